// The parts of the page of a share beside the picture.

import { expect, has, settle, visit } from './browser.mjs';

export async function checkShareTools(browser, address) {
  const link = await visit(browser, address, async (page) => {
    await checkFolds(page);
    await checkFilter(page);
    await checkCount(page);
    await checkOrder(page);
    await checkRefresh(page);
    await page.keyboard.press('/');
    await page.locator('#search').fill('a');
    await page.keyboard.press('Enter');
    await settle(page);
    return page.url();
  });
  expect(link.includes('#select='), 'the selection is not in the address');
  await checkEndings(browser, address);
  await visit(browser, link, (page) => page.waitForSelector('.has-selection'));
}

// The leaves of a device are hidden and counted.
async function checkFolds(page) {
  const label = await page.evaluate(() => {
    const { nodes, edges } = JSON.parse(document.getElementById('graph').textContent);
    const links = (node) => edges.filter((edge) => edge.source === node.id || edge.target === node.id);
    const isLeaf = (id) => edges.filter((edge) => edge.source === id || edge.target === id).length === 1;
    const hub = nodes.find((node) => links(node).filter((edge) => isLeaf(edge.source === node.id ? edge.target : edge.source)).length > 2);
    return hub.label;
  });
  await page.keyboard.press('/');
  await page.locator('#search').fill(label);
  await page.keyboard.press('Enter');
  await settle(page);
  await page.keyboard.press('f');
  const hidden = () => page.locator('.nodes > .is-hidden').count();
  expect(await hidden() > 2 && (await page.textContent('.folds')).startsWith('+'), 'F folds nothing');
  await page.keyboard.press('f');
  expect(!(await hidden()), 'F unfolds nothing');
  await page.keyboard.press('Escape');
}

async function checkFilter(page) {
  await page.locator('#open-filters').press('Enter');
  await page.waitForSelector('#filters input[name="role"]');
  await page.locator('#filters input[name="role"]').first().press('Space');
  expect(await has(page, '.nodes > .is-hidden'), 'the filter hides nothing');
  expect(page.url().includes('role='), 'the filter is not in the address');
  await page.locator('#clear-filters').press('Enter');
  expect(!(await has(page, '.is-hidden')), 'what was filtered stays hidden');
  await page.keyboard.press('Escape');
}

async function checkCount(page) {
  await page.locator('#search').fill('a');
  const expected = await page.evaluate(() => {
    const { nodes } = JSON.parse(document.getElementById('graph').textContent);
    return nodes.filter(({ label, detail }) => `${label} ${detail ?? ''}`.toLowerCase().includes('a')).length;
  });
  const said = await page.textContent('#status');
  expect(said.startsWith(`${expected.toLocaleString('en')} node`), `${expected} nodes match, but the page says "${said}"`);
  await page.locator('#search').fill('');
}

async function checkOrder(page) {
  await page.locator('#open-tables').press('Enter');
  const names = await page.locator('#tables table:first-of-type tbody th').allInnerTexts();
  const { compare } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  expect(names.every((name, place) => !place || compare(names[place - 1], name) <= 0), 'names are not in natural order');
  await page.keyboard.press('Escape');
}

// A picture that has not changed is not sent again.
async function checkRefresh(page) {
  const asked = page.waitForResponse((response) => response.url().endsWith('/topology'));
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  const { data } = await (await asked).json();
  expect(data.topology === null, 'an unchanged picture is sent again');
}

// A server that does not answer leaves the picture, with its age. A share that has ended, or asks for its password anew, is cleared.
async function checkEndings(browser, address) {
  for (const status of [404, 401]) {
    await visit(browser, address, async (page, { expected }) => {
      // Chromium itself reports the refused requests.
      expected.push('503', `${status}`);
      await answerWith(page, 503);
      await page.waitForFunction(() => document.getElementById('freshness').textContent.startsWith('Not updated since'));
      expect(await has(page, '.nodes > .node'), 'a server that is busy clears the picture');
      await answerWith(page, status);
      await page.waitForSelector('main.message');
      expect(!(await has(page, '[data-id]')) && !(await has(page, '#graph:not(:empty)')), `after ${status}, the page shows the network`);
      await page.keyboard.press('/');
    });
  }
}

async function answerWith(page, status) {
  await page.route('**/shares/public/**', (route) => route.fulfill({ status, json: { success: false } }));
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
}
