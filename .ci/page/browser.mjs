// Opens pages, and records what goes wrong on them.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

export const SIZES = [
  { width: 390, height: 844 },
  { width: 900, height: 700 },
  { width: 1920, height: 1080 },
];
export const SCHEMES = ['light', 'dark'];

// Without these, Chromium looks up hosts of its own, which would hide a request of the page.
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  '--no-sandbox',
];

export function launch() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: FLAGS, downloadsPath: mkdtempSync(join(tmpdir(), 'page-')) });
}

export function expect(isTrue, message) {
  if (!isTrue) throw new Error(message);
}

// Runs all checks, and prints the place of what fails. Returns how many fail.
export async function run(checks, browser) {
  let failures = 0;
  for (const [name, check] of checks) {
    try {
      const figure = await check(browser);
      console.log(`ok      ${name}${figure ? ` (${figure})` : ''}`);
    } catch ({ message, stack }) {
      failures += 1;
      const place = stack.match(/\w+\.mjs:\d+/g)?.join(' < ') ?? 'unknown place';
      console.log(`FAILED  ${name} (${place}): ${message}`);
    }
  }
  return failures;
}

// Prepares a page for an address. `close` fails if the page reported an error or asked another host.
export async function prepare(browser, address, settings = {}) {
  const context = await browser.newContext({ viewport: SIZES[1], acceptDownloads: true, ...settings });
  const page = await context.newPage();
  const problems = [];
  const expected = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    const isError = ['error', 'warning'].includes(message.type());
    if (isError && !expected.some((text) => message.text().includes(text))) problems.push(message.text());
  });
  page.on('request', (request) => {
    const target = new URL(request.url());
    const isLocal = target.origin === new URL(address).origin || ['data:', 'blob:'].includes(target.protocol);
    if (!isLocal) problems.push(`request to ${target}`);
  });
  const close = async () => {
    await context.close();
    expect(!problems.length, problems.join('; '));
  };
  return { page, context, close, expected };
}

// Opens an address, with these cookies.
export async function open(browser, address, { cookies = [], ...settings } = {}) {
  const prepared = await prepare(browser, address, settings);
  await prepared.context.addCookies(cookies);
  const response = await prepared.page.goto(address, { waitUntil: 'load' });
  expect(response.ok(), `${address} answers ${response.status()}`);
  return prepared;
}

// Opens an address, lets `action` use the page, and closes it.
export async function visit(browser, address, action, settings) {
  const opened = await open(browser, address, settings);
  let result;
  try {
    result = await action(opened.page, opened);
  } catch (error) {
    await opened.context.close();
    throw error;
  }
  await opened.close();
  return result;
}

export const has = async (page, selector) => (await page.locator(selector).count()) > 0;

// The transformation of the picture, as `[scale, x, y]`.
export function camera(page) {
  return page.evaluate(() => {
    const { a, e, f } = new DOMMatrix(getComputedStyle(document.getElementById('canvas')).transform);
    return [a, e, f];
  });
}

// Waits until a flight of the camera has ended and the picture rests.
export async function settle(page) {
  await page.waitForFunction(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true)))));
  await page.waitForFunction(() => !document.querySelector('.is-moving'));
}

// Selects the first node with the keyboard.
export async function selectNode(page) {
  await page.locator('#keyboard').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await settle(page);
  expect(await has(page, '.is-selected'), 'no node is selected');
}
