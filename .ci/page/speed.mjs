// How fast the page opens and moves.

import { expect, settle, visit } from './browser.mjs';

const OPENING_MILLISECONDS = 1000;
const FRAME_MILLISECONDS = 16;
const ATTEMPTS = 5;

// The best of several attempts, because other processes slow single ones down.
export async function checkOpening(browser, address, settings = {}, limit = OPENING_MILLISECONDS) {
  const times = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    times.push(await visit(browser, address, (page) => page.evaluate(openingTime), settings));
  }
  const best = Math.min(...times);
  expect(best < limit, `it takes ${best.toFixed(0)} ms`);
  return `${best.toFixed(0)} ms`;
}

// Runs in the page: when the picture was painted and the script had run.
async function openingTime() {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const [navigation] = performance.getEntriesByType('navigation');
  const paints = performance.getEntriesByType('paint').map((paint) => paint.startTime);
  return Math.max(navigation.domContentLoadedEventEnd, ...paints);
}

export async function checkFrames(browser, address, settings = {}) {
  const longest = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    longest.push(await visit(browser, address, (page) => traceFrames(browser, page), settings));
  }
  const best = Math.min(...longest);
  expect(best <= FRAME_MILLISECONDS, `the longest frame takes ${best.toFixed(1)} ms of script`);
  return `longest ${best.toFixed(1)} ms`;
}

async function traceFrames(browser, page) {
  const stage = await page.locator('#stage').boundingBox();
  const [x, y] = [stage.x + stage.width / 2, stage.y + stage.height / 2];
  await page.mouse.move(x, y);
  await browser.startTracing(page, { categories: ['devtools.timeline'] });
  for (let step = 0; step < 12; step += 1) await page.mouse.wheel(0, step < 8 ? -200 : 150);
  await page.mouse.down();
  await page.mouse.move(x + 250, y + 120, { steps: 25 });
  await page.mouse.up();
  await settle(page);
  return longestFrame(JSON.parse(await browser.stopTracing()).traceEvents);
}

// Script runs in events and in callbacks for frames; a frame takes all of them since the one before.
function longestFrame(events) {
  const scripts = events
    .filter(({ name, ph: phase }) => phase === 'X' && ['EventDispatch', 'FireAnimationFrame', 'TimerFire'].includes(name))
    .sort((one, other) => one.ts - other.ts);
  expect(scripts.some(({ name }) => name === 'FireAnimationFrame'), 'the trace has no frames');
  let longest = 0;
  let frame = 0;
  let end = 0;
  for (const { name, ts: start, dur: duration = 0, tdur: work = duration } of scripts) {
    // An event within another one is part of it. Time in which other processes had the processor does not count.
    if (start >= end) frame += work;
    end = Math.max(end, start + duration);
    longest = Math.max(longest, frame);
    if (name === 'FireAnimationFrame') frame = 0;
  }
  return longest / 1000;
}
