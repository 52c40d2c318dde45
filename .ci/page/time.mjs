// The time slider of the page for people who work with a network.

import { expect } from './browser.mjs';
import { loaded } from './network.mjs';

const DAY_MILLISECONDS = 86_400_000;

// The history of the network begins today. For the browser, it is tomorrow, so that today is a day of the past.
export function checkTime(browser, network) {
  return network.visit(browser, async (page) => {
    const tomorrow = Date.now() + DAY_MILLISECONDS;
    const [today, now] = [Date.now(), tomorrow].map((time) => new Date(time).toISOString().slice(0, 10));
    await page.clock.setFixedTime(tomorrow);
    await page.reload();
    await loaded(page);
    const before = await network.layout();
    // Returns the parameters of the picture that an action loads.
    const loads = async (action) => {
      const response = page.waitForResponse((response) => response.url().includes(`/topology/${network.id}?`));
      await action();
      const { searchParams } = new URL((await response).url());
      await loaded(page);
      return searchParams;
    };

    await network.pressOn(page, '#open-time');
    await page.waitForSelector('#days option', { state: 'attached' });
    const marks = await page.locator('#days option').count();
    expect(marks === 1, `${marks} days are marked`);
    const text = () => page.textContent('#day-text');
    expect(await text() === 'Now', `the slider begins with ${await text()}`);

    await page.locator('#day').focus();
    const past = await loads(() => page.keyboard.press('ArrowLeft'));
    expect(past.get('at') === `${now}T00:00:00Z`, `the slider asks for ${past}`);
    expect((await text()).startsWith(`End of ${today} (UTC), `) && !(await text()).includes(', 0 '), `the slider says ${await text()}`);
    expect(await page.textContent('#open-time') === `Time (${today})`, 'the button does not name the day');
    expect(page.url().includes(`day=${today}`), 'the address does not name the day');
    await expectReadOnly(page, network, before);

    await page.locator('#since-day').focus();
    const compared = await loads(() => page.keyboard.press('Space'));
    expect(compared.get('compare') === `${now}T00:00:00Z`, `the comparison asks for ${compared}`);
    await page.reload();
    await loaded(page);
    await page.waitForFunction((day) => document.getElementById('open-time').textContent === `Time (${day})`, today);
    expect(await page.locator('#since-day').isChecked(), 'the comparison does not survive');

    await network.pressOn(page, '#open-time');
    await page.waitForSelector('#days option', { state: 'attached' });
    const present = await loads(() => network.pressOn(page, '#now'));
    expect(!present.has('compare'), `the present is asked for as ${present}`);
    expect(await page.textContent('#open-time') === 'Time' && !page.url().includes('day='), 'the page stays in the past');
  });
}

// In the past, no key moves a node, and no link is edited.
async function expectReadOnly(page, network, before) {
  await page.keyboard.press('Escape');
  await page.locator('#keyboard').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#panel:not([hidden])');
  const actions = await page.locator('#panel .actions button').allTextContents();
  expect(!actions.some((action) => /link|pin/i.test(action)), `the past has the actions ${actions}`);
  await page.keyboard.press('Alt+ArrowLeft');
  await page.keyboard.press('Escape');
  expect((await network.layout()).positions.length === before.positions.length, 'a node of the past is pinned');
  await network.pressOn(page, '#open-time');
}
