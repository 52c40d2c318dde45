// Checks the share page of a running server in headless Chromium:
//
//     npm install --prefix .ci/page
//     node .ci/page/check.mjs OPEN_URL [PROTECTED_URL PASSWORD]
//
// Pages with thousands of nodes have to pass as well, which takes a minute or two.
// Prints a line for each check and exits with 1 when one fails. The environment variables CHROMIUM (default /usr/bin/chromium) and
// SCREENSHOTS (a folder for pictures of the page; none by default) are optional.

import { mkdir } from 'node:fs/promises';

import { checkAccessibility, checkKeyboard } from './access.mjs';
import { launch, open, run, SCHEMES, SIZES } from './browser.mjs';
import { checkContrast } from './contrast.mjs';
import { checkShareTools } from './share.mjs';
import { checkFrames, checkOpening } from './speed.mjs';
import { checkExport, checkHeaders, checkPointers, checkWithoutScript } from './viewer.mjs';
import { checkForm, checkPassword } from './password.mjs';

const [openAddress, protectedAddress, password] = process.argv.slice(2);
if (!openAddress || (protectedAddress && !password)) {
  console.error('usage: check.mjs OPEN_URL [PROTECTED_URL PASSWORD]');
  process.exit(2);
}

const checks = [
  ['The headers keep the page to itself', () => checkHeaders(openAddress)],
  ['The picture shows without JavaScript', (browser) => checkWithoutScript(browser, openAddress)],
  ['The page opens in under a second', (browser) => checkOpening(browser, openAddress)],
  ['Pan and zoom take at most 16 ms of script a frame', (browser) => checkFrames(browser, openAddress)],
  ['Mouse and touch move and select', (browser) => checkPointers(browser, openAddress)],
  ['The keyboard alone is enough', (browser) => checkKeyboard(browser, openAddress)],
  ['The picture can be saved', (browser) => checkExport(browser, openAddress)],
  ['Folds, filters, tables and addresses work', (browser) => checkShareTools(browser, openAddress)],
  ['Text has enough contrast', (browser) => checkContrast(browser, openAddress)],
  ['axe finds nothing', (browser) => checkAccessibility(browser, openAddress)],
];
if (protectedAddress) {
  checks.push(
    ['The headers of the form keep it to itself', () => checkHeaders(protectedAddress)],
    ['The form tells nothing and passes axe', (browser) => checkForm(browser, protectedAddress)],
    ['The password opens the picture', (browser) => checkPassword(browser, protectedAddress, password)],
  );
}

async function takeScreenshots(browser, folder) {
  await mkdir(folder, { recursive: true });
  for (const scheme of SCHEMES) {
    for (const size of SIZES) {
      const visit = await open(browser, openAddress, { viewport: size, colorScheme: scheme });
      await visit.page.screenshot({ path: `${folder}/${scheme}-${size.width}.png` });
      await visit.close();
    }
  }
}

const browser = await launch();
const failures = await run(checks, browser);
if (process.env.SCREENSHOTS) await takeScreenshots(browser, process.env.SCREENSHOTS);
await browser.close();
process.exit(failures ? 1 : 0);
