// The list and the marks of the devices that fail with a host, on the page for people who work with a network.

import { expect } from './browser.mjs';
import { loaded } from './network.mjs';

export function checkFailure(browser, network) {
  return network.visit(browser, async (page) => {
    await loaded(page);
    await network.goTo(page, 'fw-');
    const response = page.waitForResponse((response) => response.url().includes('/topology/impact?'));
    await page.getByRole('button', { name: 'If it fails' }).click();
    const { data: impact } = await (await response).json();
    const listed = page.locator('#panel .cut li');
    if (impact.cut_off_total) await listed.first().waitFor();
    const count = await listed.count();
    expect(count === impact.cut_off.length, `${count} are listed of ${impact.cut_off.length}`);
    await page.waitForFunction((total) => document.body.textContent.includes(`Cut off: ${total}`)
      || document.body.textContent.includes(`Cut off: at least ${total}`), impact.cut_off_total);
    expect(await page.locator('.ring.selected').isVisible(), 'the frame around the host is lost');
    expect(await page.locator('#panel').isVisible(), 'the panel closes');
    return `${count} of ${impact.cut_off_total} listed`;
  });
}
