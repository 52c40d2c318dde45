// The keyboard, and axe.

import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';

import { camera, expect, has, SCHEMES, selectNode, settle, SIZES, visit } from './browser.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export function checkKeyboard(browser, address) {
  return visit(browser, address, async (page) => {
    await tabTo(page, '#keyboard');
    await checkCamera(page);
    await page.keyboard.press('Tab');
    const first = await focusedNode(page);
    expect(first, 'Tab does not go from the picture to a node');
    expect(await page.locator('.cursor:focus').evaluate((cursor) => getComputedStyle(cursor).opacity === '1'), 'the focus does not show');
    await checkSelection(page, first);
    await checkWalk(page, first);
    await checkSearch(page);
    await checkTables(page);
  });
}

async function tabTo(page, selector) {
  for (let step = 0; step < 20; step += 1) {
    await page.keyboard.press('Tab');
    if (await page.locator(selector).evaluate((target) => target === document.activeElement)) return;
  }
  throw new Error(`Tab does not reach ${selector}`);
}

// The name of the node that the keyboard is at.
const focusedNode = (page) => page.evaluate(() => document.activeElement.closest('.cursor')?.ariaLabel);

async function checkCamera(page) {
  const start = await camera(page);
  await page.keyboard.press('+');
  await page.keyboard.press('ArrowRight');
  await settle(page);
  const moved = await camera(page);
  expect(moved[0] > start[0], '+ does not zoom in');
  await page.keyboard.press('-');
  await page.keyboard.press('0');
  await settle(page);
  const back = await camera(page);
  expect(back.every((value, place) => Math.abs(value - start[place]) < 0.01), '0 does not show everything again');
}

async function checkSelection(page, node) {
  await page.keyboard.press('Enter');
  expect(await page.locator('.cursor:focus').getAttribute('aria-pressed') === 'true', 'Enter does not select');
  if (await has(page, '#panel')) expect(await page.locator('#panel').isVisible(), 'the panel does not open');
  await page.keyboard.press('Escape');
  expect(!(await has(page, '.has-selection')), 'Escape does not clear the selection');
  expect(await focusedNode(page) === node, 'Escape loses the focus');
}

async function checkWalk(page, first) {
  const reached = new Set([first]);
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft', 'PageDown', 'End', 'Home']) {
    await page.keyboard.press(key);
    reached.add(await focusedNode(page));
  }
  expect(!reached.has(undefined), 'an arrow key loses the focus');
  expect(reached.size > 2, 'arrow keys do not move the focus');
  expect(await page.locator('.cursor:not([hidden])').count() === 1, 'several nodes are in the tab order');
}

async function checkSearch(page) {
  const label = await page.evaluate(() => JSON.parse(document.getElementById('graph').textContent).nodes.at(-1).label);
  await page.keyboard.press('/');
  await page.keyboard.type(label.slice(0, 100));
  expect(await page.locator('#matches').isVisible(), 'the search finds nothing');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await settle(page);
  expect(await has(page, '.is-selected'), 'a match is not selected');
  expect(await focusedNode(page), 'a match does not get the focus');
}

async function checkTables(page) {
  await page.locator('#open-tables').press('Enter');
  const { nodes } = await page.evaluate(() => {
    const graph = JSON.parse(document.getElementById('graph').textContent);
    return { nodes: graph.nodes.length };
  });
  if (await has(page, '.more')) {
    await page.locator('.more').first().press('Enter');
    expect(await page.evaluate(() => document.activeElement.closest('tbody')), 'further rows do not get the focus');
  }
  await page.waitForFunction((rows) => document.querySelectorAll('#tables table:first-of-type tbody tr').length === rows, nodes);
  await page.keyboard.press('Escape');
  expect(!(await page.locator('#tables').isVisible()), 'Escape does not close the tables');
}

// Axe takes seconds in a large picture, whose parts are the same at every size.
const LARGE = 300;

export async function checkAccessibility(browser, address) {
  const nodes = await visit(browser, address, (page) => page.locator('.nodes > .node').count());
  const sizes = nodes > LARGE ? [SIZES[1]] : SIZES;
  let rules = 0;
  for (const colorScheme of SCHEMES) {
    for (const viewport of sizes) {
      rules = await visit(browser, address, checkStates, { colorScheme, viewport, bypassCSP: true });
    }
  }
  return `${nodes} nodes, ${rules} rules passed`;
}

// The page as it opens, with a selection, with matches, and with its tables.
async function checkStates(page) {
  await page.addScriptTag({ content: await readFile(AXE, 'utf8') });
  const rules = await runAxe(page);
  await selectNode(page);
  await runAxe(page);
  await page.locator('#search').fill('a');
  await runAxe(page);
  await page.locator('#search').press('Escape');
  await page.locator('#open-tables').click();
  await runAxe(page);
  return rules;
}

export async function runAxe(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ content: await readFile(AXE, 'utf8') });
  const { violations, passes } = await page.evaluate(() => window.axe.run(document));
  const describe = ({ id, nodes }) => `${id} at ${nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')}`;
  expect(!violations.length, violations.map(describe).join('; '));
  return passes.length;
}
