// Headers, the page without JavaScript, mouse and touch, and files.

import { readFile } from 'node:fs/promises';

import { camera, expect, has, selectNode, settle, visit } from './browser.mjs';

export async function checkHeaders(address) {
  const { headers } = await fetch(address);
  const policy = headers.get('content-security-policy') ?? '';
  for (const directive of ["default-src 'none'", "base-uri 'none'", "connect-src 'self'", 'frame-ancestors ']) {
    expect(policy.includes(directive), `the policy has no ${directive}`);
  }
  expect(!policy.includes('unsafe'), 'the policy allows something unsafe');
  expect(headers.get('referrer-policy') === 'no-referrer', 'Referrer-Policy is missing');
  expect((headers.get('x-robots-tag') ?? '').includes('noindex'), 'X-Robots-Tag is missing');
  expect(!(headers.get('cache-control') ?? '').includes('public'), 'caches may keep the page');
}

export function checkWithoutScript(browser, address) {
  const look = async (page) => {
    const box = await page.locator('#canvas > .topology').boundingBox();
    expect(box && box.width > 300 && box.height > 50, 'the picture is missing');
    expect(!(await page.locator('#tools').isVisible()), 'controls show that do nothing');
  };
  return visit(browser, address, look, { javaScriptEnabled: false });
}

export async function checkPointers(browser, address) {
  await visit(browser, address, async (page) => {
    await checkWheelAndDrag(page);
    await checkClicks(page);
  });
  await visit(browser, address, checkPinch, { hasTouch: true, viewport: { width: 390, height: 844 } });
}

async function checkWheelAndDrag(page) {
  const stage = await page.locator('#stage').boundingBox();
  const [x, y] = [stage.x + stage.width / 2, stage.y + stage.height / 2];
  const [scale] = await camera(page);
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -300);
  await settle(page);
  const before = await camera(page);
  expect(before[0] > scale, 'the wheel does not zoom');
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 40, { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const after = await camera(page);
  expect(Math.abs(after[1] - before[1] - 60) < 1 && Math.abs(after[2] - before[2] - 40) < 1, 'a drag does not move the picture by its length');
  expect(!(await has(page, '.has-selection')), 'a drag selects');
}

async function checkClicks(page) {
  await page.locator('#stage').press('0');
  await settle(page);
  await page.locator('.node').first().click({ position: await centerOf(page, '.node') });
  expect(await has(page, '.node.is-selected'), 'a click does not select a node');
  await page.keyboard.press('Escape');
  expect(!(await has(page, '.is-selected')), 'Escape does not clear the selection');
  // The camera may still be moving to the selected node, so that a click would miss the link.
  await settle(page);
  await clickOnEdge(page);
  expect(await has(page, '.edge.is-selected'), 'a click does not select a link');
  if (await has(page, '#panel')) expect((await page.textContent('#panel')).includes('Confidence'), 'the panel does not explain the link');
}

function centerOf(page, selector) {
  return page.locator(selector).first().boundingBox().then(({ width, height }) => ({ x: width / 2, y: height / 2 }));
}

// Clicks on a point of a line where no node lies.
async function clickOnEdge(page) {
  const point = await page.evaluate(() => {
    for (const line of document.querySelectorAll('.edge :is(path, polyline, line)')) {
      const matrix = line.getScreenCTM();
      const { x, y } = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(matrix);
      const hit = document.elementFromPoint(x, y);
      if (hit?.closest('.topology') && !hit.closest('.node')) return [x, y];
    }
    return null;
  });
  expect(point, 'no line can be hit');
  await page.mouse.click(...point);
}

async function checkPinch(page, { context }) {
  const [scale] = await camera(page);
  const session = await context.newCDPSession(page);
  const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', {
    type,
    touchPoints: points.map(([x, y], id) => ({ x, y, id })),
  });
  await touch('touchStart', [150, 400], [240, 400]);
  for (let step = 1; step <= 5; step += 1) await touch('touchMove', [150 - step * 10, 400], [240 + step * 10, 400]);
  await touch('touchEnd');
  await settle(page);
  expect((await camera(page))[0] > scale * 1.5, 'a pinch does not zoom');
}

export function checkExport(browser, address) {
  return visit(browser, address, async (page) => {
    if (!(await has(page, '#save-svg'))) return 'switched off';
    await selectNode(page);
    const svg = (await save(page, '#save-svg')).toString();
    const parsed = await page.evaluate((text) => {
      const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
      const added = '[tabindex], [style], [aria-pressed], .highlight, .has-selection, .is-distant, .is-remote';
      const nodes = root.querySelectorAll('.node').length;
      return { name: root.localName, nodes, isMarked: root.matches(added) || root.querySelector(added) !== null };
    }, svg);
    expect(parsed.name === 'svg' && parsed.nodes === (await page.locator('.nodes > .node').count()), 'the saved SVG is not the picture');
    expect(!parsed.isMarked, 'the saved SVG contains parts of the page');
    const png = await save(page, '#save-png');
    expect(png.subarray(1, 4).toString() === 'PNG', 'the saved PNG is none');
    return `PNG of ${png.readUInt32BE(16)} × ${png.readUInt32BE(20)} pixels`;
  });
}

async function save(page, selector) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(selector)]);
  return readFile(await download.path());
}
