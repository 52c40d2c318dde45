// The page of a share with a password.

import { runAxe } from './access.mjs';
import { expect, SCHEMES, SIZES, visit } from './browser.mjs';

export async function checkForm(browser, address) {
  const text = await (await fetch(address)).text();
  for (const part of ['data-id', 'id="graph"', 'viewBox']) {
    const isInScript = part === 'viewBox' ? /<svg[^>]*viewBox/.test(text) : new RegExp(`<[^>]*${part}`).test(withoutScript(text));
    expect(!isInScript, `the form contains ${part}`);
  }
  for (const colorScheme of SCHEMES) {
    for (const viewport of SIZES) await visit(browser, address, runAxe, { colorScheme, viewport, bypassCSP: true });
  }
  await visit(browser, address, async (page) => {
    expect(!(await page.locator('#password-form').isVisible()), 'the form shows without JavaScript');
    expect((await page.locator('#locked').innerText()).includes('JavaScript'), 'nothing explains the need for JavaScript');
  }, { javaScriptEnabled: false });
}

const withoutScript = (html) => html.replace(/<script type="module">[\s\S]*?<\/script>/, '');

export function checkPassword(browser, address, password) {
  return visit(browser, address, async (page, { expected, context }) => {
    // Chromium itself reports the refused request.
    expected.push('403');
    await page.fill('#password', `${password} is wrong`);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('problem').textContent);
    expect((await page.textContent('#problem')).includes('wrong'), 'a wrong password is not explained');
    await page.fill('#password', password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#canvas > .topology .node');
    expect(page.url() === address, 'the address changes');
    const stored = await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length);
    expect(!stored && !(await context.cookies()).length, 'something is stored in the browser');
  });
}
