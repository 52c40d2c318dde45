// Checks the page for people who work with a network, of a running server, in headless Chromium:
//
//     npm install --prefix .ci/page
//     node .ci/page/check_network.mjs URL EMAIL PASSWORD [MILLISECONDS]
//
// The page has to open within this time, by default 1,000. The checks leave the network as it was. The environment variables CHROMIUM
// (default /usr/bin/chromium) and SCREENSHOTS (a folder for pictures of the page; none by default) are optional.

import { mkdir } from 'node:fs/promises';

import { checkPath, checkUndo, checkUndrawn } from './answers.mjs';
import { launch, open, run, SCHEMES, SIZES } from './browser.mjs';
import { checkContrast } from './contrast.mjs';
import { checkFailure } from './failing.mjs';
import { loaded, NetworkChecks } from './network.mjs';
import { checkFrames, checkOpening } from './speed.mjs';
import { checkTime } from './time.mjs';

const [address, email, password, milliseconds = '1000'] = process.argv.slice(2);
if (!password) {
  console.error('usage: check_network.mjs URL EMAIL PASSWORD [MILLISECONDS]');
  process.exit(2);
}

const network = new NetworkChecks(address, email, password);
const session = () => ({ cookies: network.cookies });
const checks = [
  ['The form logs in, and tells nothing before', (browser) => network.checkLogin(browser)],
  ['The headers keep the page to itself', () => network.checkHeaders()],
  ['Pages of other sites change nothing', () => network.checkForgery()],
  ['The page opens in time', (browser) => checkOpening(browser, address, session(), Number(milliseconds))],
  ['Pan and zoom take at most 16 ms of script a frame', (browser) => checkFrames(browser, address, session())],
  ['The keyboard alone is enough', (browser) => network.checkKeyboard(browser)],
  ['A dragged node stays where it is', (browser) => network.checkDragging(browser)],
  ['What is held stays until it is dropped', (browser) => network.checkHolding(browser)],
  ['Folds open in areas, and nothing is pinned there', (browser) => network.checkGroups(browser)],
  ['Parts of an overview open and close', (browser) => network.checkOverview(browser)],
  ['A damaged address opens the page', (browser) => network.checkDamagedAddress(browser)],
  ['Two editors keep each other\'s changes', (browser) => network.checkTwoEditors(browser)],
  ['An update keeps position and selection', (browser) => network.checkRefresh(browser)],
  ['The time slider shows a day of the past', (browser) => checkTime(browser, network)],
  ['A failure marks what it cuts off', (browser) => checkFailure(browser, network)],
  ['A path avoids links that are down', (browser) => checkPath(browser, network)],
  ['Hosts that are not drawn are found', (browser) => checkUndrawn(browser, network)],
  ['An undo takes back the own change only', (browser) => checkUndo(browser, network)],
  ['The address names what is selected', (browser) => network.checkPermalink(browser)],
  ['A phone shows words', (browser) => network.checkPhone(browser)],
  ['At 400 %, the page scrolls', (browser) => network.checkMagnified(browser)],
  ['Print leaves no sheet blank', (browser) => network.checkPrint(browser)],
  ['Text has enough contrast', (browser) => checkContrast(browser, address, session())],
  ['axe finds nothing', (browser) => network.checkAccessibility(browser)],
];

async function takeScreenshots(browser, folder) {
  await mkdir(folder, { recursive: true });
  for (const colorScheme of SCHEMES) {
    for (const viewport of SIZES) {
      const { page, close } = await open(browser, address, { ...session(), viewport, colorScheme });
      await loaded(page);
      await page.screenshot({ path: `${folder}/network-${colorScheme}-${viewport.width}.png` });
      await close();
    }
  }
}

const browser = await launch();
const failures = await run(checks, browser);
if (process.env.SCREENSHOTS) await takeScreenshots(browser, process.env.SCREENSHOTS);
await browser.close();
process.exit(failures ? 1 : 0);
