// The page for people who work with a network: login, keyboard, editing, updates, and what it must refuse.

import { runAxe } from './access.mjs';
import { expect, has, prepare, SCHEMES, settle, SIZES, visit } from './browser.mjs';

const DEVICES = '?detail=devices';

export class NetworkChecks {
  constructor(address, email, password) {
    Object.assign(this, { address, email, password, cookies: [] });
    this.id = new URL(address).pathname.split('/').at(-1);
    this.api = new URL('../api/v1/', address).href;
  }

  // Opens the page with the session of an earlier login. It shows devices, however large the network is.
  visit(browser, action, settings = {}, rest = DEVICES) {
    return visit(browser, this.address + rest, action, { cookies: this.cookies, ...settings });
  }

  async ask(method, path, body, headers = {}) {
    const cookie = this.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const all = { Cookie: cookie, ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers };
    return fetch(this.api + path, { method, headers: all, body: body && JSON.stringify(body) });
  }

  async read(path) {
    const response = await this.ask('GET', path);
    expect(response.ok, `${path} answers ${response.status}`);
    return (await response.json()).data;
  }

  layout() {
    return this.read(`topology/layouts/${this.id}/l2`);
  }

  // The form explains a wrong password, and a right one opens the page at its whole address.
  async checkLogin(browser) {
    for (const colorScheme of SCHEMES) {
      for (const viewport of SIZES) {
        const opened = await this.openForm(browser, { colorScheme, viewport, bypassCSP: true });
        await runAxe(opened.page);
        await opened.close();
      }
    }
    const { page, context, close, expected } = await this.openForm(browser, {});
    expected.push('401', '403');
    await page.goto(`${this.address}#view=l3`);
    await page.keyboard.type(this.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(`${this.password} is wrong`);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.getElementById('problem').textContent);
    expect((await page.textContent('#problem')).includes('wrong'), 'a wrong password is not explained');
    await page.fill('#password', this.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#canvas > .topology .node, #canvas > .topology .container');
    await page.waitForFunction(() => document.querySelector('[data-view="l3"][aria-current]'));
    this.cookies = await context.cookies();
    expect(this.cookies.every(({ httpOnly }) => httpOnly), 'scripts can read the session');
    const stored = await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length);
    expect(!stored, 'something is stored in the browser');
    await close();
  }

  async openForm(browser, settings) {
    const opened = await prepare(browser, this.address, settings);
    opened.expected.push('401');
    const response = await opened.page.goto(this.address);
    expect(response.status() === 401, `without a session, the page answers ${response.status()}`);
    expect(await has(opened.page, '#login-form'), 'there is no form');
    expect(!(await has(opened.page, '[data-id]')), 'the form shows the network');
    return opened;
  }

  async checkForgery() {
    const body = { positions: [] };
    const path = `topology/layouts/${this.id}/l2`;
    const foreign = await this.ask('PUT', path, body, { Origin: 'https://evil.example' });
    expect(foreign.status === 403, `a page of another site gets ${foreign.status}`);
    const marked = await this.ask('PUT', path, body, { 'Sec-Fetch-Site': 'cross-site' });
    expect(marked.status === 403, `a request marked as cross-site gets ${marked.status}`);
  }

  async checkHeaders() {
    const cookie = this.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const { headers } = await fetch(this.address, { headers: { Cookie: cookie } });
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "base-uri 'none'", "connect-src 'self'", "frame-ancestors 'self'"]) {
      expect(policy.includes(part), `the policy has no ${part}`);
    }
    expect(!policy.includes('unsafe'), 'the policy allows something unsafe');
  }

  // Every action without a pointer.
  checkKeyboard(browser) {
    return this.visit(browser, async (page) => {
      await this.pressOn(page, '#views [data-view="l3"]');
      await page.waitForFunction(() => document.querySelector('[data-view="l3"]').hasAttribute('aria-current')
        && !document.querySelector('[aria-busy]'));
      expect(new URL(page.url()).hash.includes('view=l3'), 'the view is not in the address');
      await this.pressOn(page, '#views [data-view="l2"]');
      await loaded(page);
      await this.checkFoldsByKey(page);
      await this.checkFiltersByKey(page);
      await this.checkPathByKey(page);
      await this.checkMovesByKey(page);
      await this.checkDialogsByKey(page);
      await this.checkLinksByKey(page);
    });
  }

  async pressOn(page, selector, key = 'Enter') {
    await page.locator(selector).first().focus();
    await page.keyboard.press(key);
  }

  async goTo(page, wanted) {
    await page.keyboard.press('/');
    await page.locator('#search').fill(wanted);
    await page.keyboard.press('Enter');
    await settle(page);
  }

  async checkFoldsByKey(page) {
    const group = page.locator('.nodes > .group').first();
    if (!(await group.count())) return;
    const nodes = () => page.locator('.nodes > .node').count();
    const before = await nodes();
    const id = await group.getAttribute('data-id');
    await page.evaluate((id) => {
      const graph = JSON.parse(document.getElementById('graph').textContent);
      window.anchorLabel = graph.nodes.find((node) => node.id === (graph.edges.find((edge) => edge.target === id || edge.source === id)
        ?? {})[graph.edges.find((edge) => edge.target === id) ? 'source' : 'target'])?.label;
    }, id);
    const anchor = await page.evaluate(() => window.anchorLabel);
    await this.goTo(page, anchor);
    await page.keyboard.press('f');
    await page.waitForFunction((before) => document.querySelectorAll('.nodes > .node').length > before, before);
    expect(new URL(page.url()).hash.includes('expand='), 'the fold is not in the address');
    expect(await page.evaluate(() => document.activeElement.matches('.cursor')), 'unfolding loses the focus');
    await page.keyboard.press('f');
    await page.waitForFunction((before) => document.querySelectorAll('.nodes > .node').length === before, before);
    await page.keyboard.press('Escape');
  }

  async checkFiltersByKey(page) {
    await this.pressOn(page, '#open-filters');
    await page.waitForSelector('#filters input[name="role"]');
    await this.pressOn(page, '#filters input[name="role"]', 'Space');
    expect(await page.locator('.nodes > .is-hidden').count() > 0, 'the filter hides nothing');
    await page.waitForSelector('#filters input[name="tag_ids"]');
    await this.pressOn(page, '#clear-filters');
    expect(!(await has(page, '.is-hidden')), 'what was filtered stays hidden');
    await this.checkChoicesStay(page);
    await this.checkFoldedRoles(page);
    await this.checkGrouping(page);
    await page.keyboard.press('Escape');
  }

  // A form that opens again asks for its choices, and leaves those that are the same where they are, with the focus.
  async checkChoicesStay(page) {
    const last = page.locator('#filters input[name="group_by"]').first();
    await last.waitFor();
    await last.evaluate((box) => { window.box = box; });
    await page.keyboard.press('Escape');
    const answered = page.waitForResponse('**/topology/vlans*');
    await this.pressOn(page, '#open-filters');
    await last.focus();
    await (await answered).finished();
    await settle(page);
    expect(await page.evaluate(() => document.activeElement === window.box), 'choices that arrive take the focus away');
  }

  // A grouping is chosen, is part of the address, and ends. Its boxes are open where there is room.
  async checkGrouping(page) {
    const isGrouped = () => document.querySelector('.nodes > .area, .containers > [data-id]') !== null;
    expect(!(await page.evaluate(isGrouped)), 'the picture is grouped already');
    await this.pressOn(page, '#filters input[name="group_by"][value="subnet"]', 'Space');
    await page.waitForFunction(isGrouped);
    expect(new URL(page.url()).hash.includes('group_by'), 'the grouping is not in the address');
    await this.pressOn(page, '#filters input[name="group_by"][value=""]', 'Space');
    await page.waitForFunction(() => !document.querySelector('.nodes > .area, .containers > [data-id]'));
  }

  // A fold with a device of a role shows with this role.
  async checkFoldedRoles(page) {
    const fold = await page.evaluate(() => JSON.parse(document.getElementById('graph').textContent).nodes.find(({ folded }) => folded));
    if (!fold) return;
    for (const { role } of fold.folded) {
      await this.pressOn(page, `#filters input[value="${role}"]`, 'Space');
      expect(await has(page, `.nodes > [data-id="${fold.id}"]:not(.is-hidden)`), `the filter for ${role} hides a fold with one`);
      await this.pressOn(page, '#clear-filters');
    }
  }

  async checkPathByKey(page) {
    await page.locator('#keyboard').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('Shift+Enter');
    await settle(page);
    expect((await page.textContent('#panel')).startsWith('Path'), 'Shift and Enter show no path');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.locator('#panel button', { hasText: 'Path to' }).press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    expect(!(await page.textContent('#panel')).startsWith('Path'), 'Escape does not end the choice of a path');
    await page.keyboard.press('Escape');
  }

  async checkMovesByKey(page) {
    const before = (await this.layout()).positions.length;
    await page.locator('#keyboard').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Home');
    await page.keyboard.press('Alt+ArrowLeft');
    await page.keyboard.press('Alt+ArrowUp');
    await page.waitForFunction(() => !document.getElementById('undo').disabled);
    await loaded(page);
    expect((await this.layout()).positions.length === before + 1, 'Alt and the arrow keys pin nothing');
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('Undone'));
    await loaded(page);
    expect((await this.layout()).positions.length === before, 'the undo leaves the pin');
  }

  async checkDialogsByKey(page) {
    await this.pressOn(page, '#open-blind-spots');
    await page.waitForFunction(() => !document.getElementById('blind-spots-content').textContent.startsWith('Loading'));
    await page.keyboard.press('Escape');
    await this.pressOn(page, '[popovertarget="export"]');
    const formats = await page.locator('#export a').count();
    expect(formats === 6, `${formats} formats`);
    for (const link of await page.locator('#export a').all()) {
      const path = (await link.evaluate(({ href }) => href)).replace(this.api, '');
      const answer = await this.ask('GET', path);
      expect(answer.ok && answer.headers.get('content-disposition'), `${path} answers ${answer.status}`);
    }
    await page.keyboard.press('Escape');
    await this.pressOn(page, '#open-tables');
    const names = () => page.locator('#tables table:first-of-type tbody th').allInnerTexts();
    const sorted = [...(await names())].sort(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare);
    expect((await names()).join() === sorted.join(), 'names are not in natural order');
    await this.pressOn(page, '#tables th .sort');
    expect((await names())[0] !== sorted[0], 'the head does not turn the order');
    await page.keyboard.press('Escape');
  }

  // A link is added, explained, hidden and shown again.
  async checkLinksByKey(page) {
    const count = async () => (await this.read(`topology/links?network_id=${this.id}&limit=0`)).length;
    const before = await count();
    await this.pressOn(page, '#open-links');
    await this.pressOn(page, '#new-link');
    for (const end of ['from', 'to']) {
      await page.waitForFunction((end) => document.querySelectorAll(`#link-${end}-host option`).length > 1, end);
    }
    await page.locator('#link-from-host').focus();
    await page.keyboard.press('Home');
    await page.locator('#link-to-host').focus();
    await page.keyboard.press('End');
    await this.pressOn(page, '#link-form .primary');
    await page.waitForFunction(() => !document.getElementById('add-link').open);
    await loaded(page);
    expect(await count() === before + 1, 'no link is added');
    await page.reload();
    expect(await count() === before + 1, 'the link does not survive');
    await this.checkEntered(page);
    await this.pressOn(page, '#open-links');
    await page.waitForSelector('#links .entry button');
    await this.pressOn(page, '#links .entry:last-child button');
    await page.waitForFunction((before) => document.querySelectorAll('#links .entry').length === before, before);
    expect(await count() === before, 'the link is not deleted');
    await page.keyboard.press('Escape');
  }

  // A link that was entered cannot be hidden, only deleted.
  async checkEntered(page) {
    const { edges } = await this.read(`topology/graph?network_id=${this.id}`);
    const { id } = edges.find(({ evidence }) => evidence.some(({ rule }) => rule === 'manual'));
    await page.locator(`.edges > [data-id="${id}"]`).dispatchEvent('click');
    await page.getByText('Entered by a user').first().waitFor();
    expect(await page.getByRole('button', { name: 'Hide this link' }).count() === 0, 'a link that was entered can be hidden');
    await page.keyboard.press('Escape');
  }

  // A node that is dragged stays there, also after the page is loaded again, until it is undone.
  checkDragging(browser) {
    return this.visit(browser, async (page) => {
      await loaded(page);
      const before = await this.layout();
      const id = await dragFirst(page, 90, 60);
      await page.waitForFunction(() => !document.getElementById('undo').disabled);
      await loaded(page);
      const pinned = (await this.layout()).positions;
      expect(pinned.length === before.positions.length + 1, 'a dragged node is not pinned');
      await page.reload();
      const shown = await page.evaluate((id) => JSON.parse(document.getElementById('graph').textContent).nodes.find((node) => node.id === id), id);
      const stored = pinned.find((position) => position.id === id);
      expect(shown.pinned && Math.abs(shown.x - stored.x) < 1 && Math.abs(shown.y - stored.y) < 1, 'the pin does not survive');
      await page.locator(`.nodes > [data-id="${id}"]`).click();
      await page.locator('#panel button', { hasText: 'Unpin' }).click();
      await loaded(page);
      await page.waitForFunction(() => !document.getElementById('undo').disabled);
      expect((await this.layout()).positions.length === before.positions.length, 'the node stays pinned');
    });
  }

  // A move is stored, whatever key comes next. A picture that arrives meanwhile waits, and so does an undo that fails.
  checkHolding(browser) {
    return this.visit(browser, async (page, { expected }) => {
      // Chromium itself reports what the server refuses.
      expected.push('412', '500');
      await loaded(page);
      await page.locator('#keyboard').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Home');
      await page.keyboard.press('Alt+ArrowLeft');
      await page.keyboard.press('PageDown');
      await page.waitForFunction(() => !document.getElementById('undo').disabled);
      await loaded(page);
      const [{ id, x, y }, ...others] = (await this.layout()).positions;
      expect(id && !others.length, 'a key that follows takes a move back');
      await this.checkLatePicture(page, { id, x, y: y + 40 });
      await page.route('**/layouts/**', (route) => route.fulfill({ status: 500, json: { success: false, error: 'It is broken.' } }));
      await page.locator('#undo').click();
      await page.waitForFunction(() => document.getElementById('status').textContent === 'It is broken.');
      expect(await page.locator('#undo').isEnabled(), 'an undo that failed is lost');
      await page.unroute('**/layouts/**');
      await this.ask('PUT', `topology/layouts/${this.id}/l2`, { positions: [] });
    });
  }

  async checkLatePicture(page, pin) {
    await this.ask('PUT', `topology/layouts/${this.id}/l2`, { positions: [pin] });
    let release;
    const isHeld = new Promise((resolve) => { release = resolve; });
    const pattern = `**/topology/${this.id}*`;
    await page.route(pattern, async (route) => {
      const response = await route.fetch();
      await isHeld;
      await route.fulfill({ response });
    });
    await page.evaluate(() => {
      window.held = document.querySelector('#canvas > .topology');
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const { x, y } = await inSight(page, 1);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y + 30, { steps: 3 });
    const answered = page.waitForResponse((response) => response.url().includes(`/topology/${this.id}`));
    release();
    await answered;
    await settle(page);
    const isSame = () => page.evaluate(() => window.held === document.querySelector('#canvas > .topology'));
    expect(await isSame(), 'a picture arrives while a node is dragged');
    await page.mouse.up();
    await page.waitForFunction(() => window.held !== document.querySelector('#canvas > .topology'));
    await loaded(page);
    expect((await this.layout()).positions.length === 2, 'what was dragged while a picture arrived is not pinned');
    await page.unroute(pattern);
  }

  // In a picture with areas, folds open, and nothing is pinned. Text is within its card.
  checkGroups(browser) {
    return this.visit(browser, async (page) => {
      await loaded(page);
      const beyond = await page.evaluate(() => Array.from(document.querySelectorAll('.nodes > g')).flatMap((node) => {
        const end = (part) => { const { x, width } = part.getBBox(); return x + width; };
        const limit = Math.min(...Array.from(node.querySelectorAll('.card'), end));
        return Array.from(node.querySelectorAll('text')).filter((text) => end(text) > limit).map((text) => text.textContent);
      }));
      expect(!beyond.length, `text is wider than its card: ${beyond.slice(0, 3)}`);
      await dragFirst(page, 60, 40);
      await settle(page);
      expect(await page.locator('#undo').isDisabled() && !(await this.layout()).positions.length, 'a node within an area is pinned');
      const group = page.locator('.nodes > .group').first();
      expect(await group.count(), 'the picture has no folds');
      const id = await group.getAttribute('data-id');
      await group.dispatchEvent('click');
      await page.waitForFunction((id) => !document.querySelector(`.nodes > [data-id="${id}"]`), id);
      expect(page.url().includes(id), 'the fold is not in the address');
      return null;
    }, {}, `${DEVICES}&group_by=subnet`);
  }

  // Parts of an overview and boxes of a grouped picture open and close, and nothing is pinned there.
  async checkOverview(browser) {
    await this.checkParts(browser, '?detail=overview');
    await this.checkParts(browser, '?group_by=subnet');
  }

  checkParts(browser, rest) {
    return this.visit(browser, async (page) => {
      await loaded(page);
      await dragFirst(page, 60, 40, 0, '.area');
      await settle(page);
      expect(await page.locator('#undo').isDisabled() && !(await this.layout()).positions.length, 'a part of the network is pinned');
      const id = await page.locator('.nodes > .area').first().getAttribute('data-id');
      const label = await page.evaluate((id) => JSON.parse(document.getElementById('graph').textContent).nodes.find((node) => node.id === id).label, id);
      await this.goTo(page, label);
      await page.keyboard.press('f');
      await page.waitForSelector(`.containers > [data-id="${id}"]`);
      expect(new URL(page.url()).hash.includes(id), 'the open part is not in the address');
      await page.keyboard.press('f');
      await page.waitForSelector(`.nodes > [data-id="${id}"]`);
      await page.locator('#detail').click();
      await page.waitForSelector('#detail[data-detail="devices"]');
    }, {}, rest);
  }

  // What is no id in an address is ignored.
  checkDamagedAddress(browser) {
    return this.visit(browser, async (page) => {
      await loaded(page);
      expect(!(await page.textContent('#status')), `a damaged address says "${await page.textContent('#status')}"`);
    }, {}, `${DEVICES}#expand=x,1&tag_ids=y`);
  }

  // Two editors move two nodes: both pins are kept.
  checkTwoEditors(browser) {
    return this.visit(browser, (one, { expected }) => this.visit(browser, async (other) => {
      // Chromium itself reports the refused request.
      expected.push('412');
      await Promise.all([loaded(one), loaded(other)]);
      const first = await dragFirst(one, 40, 30, 0);
      await one.waitForFunction(() => !document.getElementById('undo').disabled);
      const second = await dragFirst(other, -30, 50, 2);
      await other.waitForFunction(() => !document.getElementById('undo').disabled);
      // The first knows only its own pin.
      const third = await dragFirst(one, 40, 30, 4);
      await one.waitForFunction((id) => document.getElementById('undo').title.length && id, third);
      await loaded(one);
      const until = Date.now() + 10_000;
      let ids = [];
      while (ids.length < 3 && Date.now() < until) ids = (await this.layout()).positions.map(({ id }) => id);
      for (const id of [first, second, third]) expect(ids.includes(id), 'an editor overwrites the other');
      await this.ask('PUT', `topology/layouts/${this.id}/l2`, { positions: [] });
    }, {}));
  }

  // An update keeps position and selection.
  checkRefresh(browser) {
    return this.visit(browser, async (page) => {
      await loaded(page);
      const unchanged = page.waitForResponse((response) => response.url().includes('/topology/'));
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      expect((await unchanged).status() === 304, 'a picture that has not changed is sent again');
      await page.mouse.move(500, 400);
      await page.mouse.wheel(0, -400);
      await settle(page);
      const id = await page.evaluate(() => {
        const stage = document.getElementById('stage').getBoundingClientRect();
        for (const part of document.querySelectorAll('.nodes > .host')) {
          const { x, y, width } = part.getBoundingClientRect();
          if (x > stage.x + 50 && y > stage.y + 50 && x + width < stage.right - 400 && y < stage.bottom - 100) return part.dataset.id;
        }
        return null;
      });
      expect(id, 'no host is in sight');
      await page.locator(`.nodes > [data-id="${id}"]`).click();
      await settle(page);
      const place = async () => {
        const { x, y, width, height } = await page.locator(`.nodes > [data-id="${id}"]`).boundingBox();
        return { x: x + width / 2, y: y + height / 2 };
      };
      const before = await place();
      const answer = await this.ask('POST', 'hosts', { name: 'new host', network_id: this.id });
      const host = (await answer.json()).data.id;
      const changed = page.waitForResponse((response) => response.url().includes('/topology/') && response.status() === 200);
      const link = { network_id: this.id, source: { host_id: host }, target: { host_id: id } };
      await this.ask('POST', 'topology/links', link);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await changed;
      await loaded(page);
      await settle(page);
      const after = await place();
      const distance = Math.hypot(after.x - before.x, after.y - before.y);
      expect(distance < 2, `an update moves what is looked at by ${distance.toFixed(1)} px`);
      expect(await has(page, '.has-selection'), 'an update loses the selection');
      // Tables that are open stay as they are, and in order.
      await this.pressOn(page, '#open-tables');
      const without = page.waitForResponse((response) => response.url().includes('/topology/') && response.status() === 200);
      await this.ask('DELETE', `hosts/${host}`);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await without;
      await loaded(page);
      await this.pressOn(page, '#tables th:last-child .sort');
      expect(await has(page, '#tables th:last-child[aria-sort]'), 'a table cannot be ordered after an update');
    });
  }

  // What the address names is selected, in the view that it names.
  async checkPermalink(browser) {
    const address = await this.visit(browser, async (page) => {
      await this.goTo(page, 'a');
      return page.url();
    });
    const { hash } = new URL(address);
    expect(hash.includes('select='), 'the selection is not in the address');
    await this.visit(browser, async (page) => {
      await page.waitForSelector('.has-selection');
      expect(await page.locator('#panel').isVisible(), 'the panel does not open');
    }, {}, DEVICES + hash);
  }

  async checkAccessibility(browser) {
    for (const colorScheme of SCHEMES) {
      for (const viewport of SIZES) {
        await this.visit(browser, (page) => this.runStates(page), { colorScheme, viewport, bypassCSP: true });
      }
    }
  }

  async runStates(page) {
    await loaded(page);
    await runAxe(page);
    await page.locator('#keyboard').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await settle(page);
    await runAxe(page);
    await page.keyboard.press('Escape');
    for (const opener of ['#open-filters', '#open-time', '[popovertarget="export"]', '#open-links', '#open-blind-spots']) {
      await this.pressOn(page, opener);
      await page.waitForTimeout(300);
      await runAxe(page);
      if (opener === '#open-links') {
        await this.pressOn(page, '#new-link');
        await page.waitForTimeout(300);
        await runAxe(page);
      }
      await page.keyboard.press('Escape');
    }
  }

  // A phone shows words at once, wastes no room, and has all tools, whichever side is up.
  async checkPhone(browser) {
    const upright = await this.checkPhoneOf(browser, { width: 390, height: 844 });
    return `${upright}, ${await this.checkPhoneOf(browser, { width: 844, height: 390 })}`;
  }

  checkPhoneOf(browser, viewport) {
    return this.visit(browser, async (page) => {
      await settle(page);
      const words = await page.evaluate(() => {
        const isShown = ({ x, y, width, height }) => height >= 9 && x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0;
        const texts = document.querySelectorAll('.nodes text.label');
        return Array.from(texts, (text) => text.getBoundingClientRect()).filter(isShown).length;
      });
      expect(words >= 3, `${words} names can be read`);
      const empty = await page.evaluate(() => {
        const stage = document.querySelector('#stage').getBoundingClientRect();
        const picture = document.querySelector('.canvas > .topology').getBoundingClientRect();
        const gaps = [['left', 'right'], ['top', 'bottom']].map(([start, end]) => [picture[start] - stage[start], stage[end] - picture[end]]);
        // The picture ends over the buttons. Where it is larger than the stage, no side is empty.
        return gaps.filter(([start, end]) => start < -1 && end > 60 || end < -1 && start > 1).length;
      });
      expect(empty === 0, 'a part of the picture is hidden, though there is room for it');
      for (const tool of ['#open-filters', '#open-time', '[popovertarget="export"]']) {
        expect(await page.locator(tool).isVisible(), `${tool} is hidden`);
      }
      return `${words} names`;
    }, { viewport, hasTouch: true, isMobile: true });
  }

  // At 400 %, the picture has room, and the page scrolls to it.
  checkMagnified(browser) {
    return this.visit(browser, async (page) => {
      await settle(page);
      const { height } = await page.locator('#stage').boundingBox();
      expect(height > 150, `the picture has ${height} px`);
      await page.locator('#stage').scrollIntoViewIfNeeded();
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      const { id, x, y } = await inSight(page, 0, '.node');
      await page.mouse.click(x, y);
      await page.waitForSelector('.has-selection');
      expect(page.url().includes(id), 'a click selects another node after the page was scrolled');
    }, { viewport: { width: 320, height: 256 } });
  }

  // One sheet by default, and no blank one among several.
  checkPrint(browser) {
    return this.visit(browser, async (page) => {
      await loaded(page);
      const pdf = async (settings) => (await page.pdf({ printBackground: true, ...settings })).toString('latin1');
      const countOf = (file) => file.match(/\/Type\s*\/Page\b/g).length;
      const sheets = async (settings) => countOf(await pdf(settings));
      for (const format of ['A4', 'A3']) {
        for (const landscape of [false, true]) {
          const count = await sheets({ format, landscape, margin: { top: '10mm', bottom: '10mm', left: '10mm', right: '10mm' } });
          expect(count === 1, `${format} takes ${count} sheets`);
        }
      }
      await page.emulateMedia({ media: 'print' });
      const hidden = await page.evaluate(() => Array.from(document.querySelectorAll('.labels > .port')).filter((label) => getComputedStyle(label).display === 'none').length);
      expect(!hidden, `${hidden} port names are not printed`);
      await page.emulateMedia({ media: null });
      await page.evaluate(() => { window.print = () => {}; });
      for (const [paper, side] of [['a4', 842], ['a3', 1191]]) {
        await page.locator('[popovertarget="export"]').click();
        await page.locator(`[data-paper="${paper}"]:not([data-tiles])`).click();
        const file = await pdf({ preferCSSPageSize: true });
        const count = countOf(file);
        expect(count === 1, `${paper} as asked for takes ${count} sheets`);
        const box = file.match(/\/MediaBox\s*\[([^\]]*)\]/)[1].trim().split(/\s+/).map(Number);
        expect(Math.abs(Math.max(...box) - side) < 2, `a sheet of ${paper} is ${box}`);
      }
      await page.locator('[popovertarget="export"]').click();
      await page.locator('[data-paper="a4"][data-tiles]').click();
      const tiles = await page.locator('#tiles > svg').count();
      const isComplete = await page.evaluate(() => {
        const boxes = Array.from(document.querySelectorAll('#tiles > svg'), (tile) => tile.viewBox.baseVal);
        const picture = document.getElementById('whole').viewBox.baseVal;
        // The legend is at the lower edge.
        return boxes.some((box) => box.y + box.height >= picture.y + picture.height);
      });
      expect(isComplete, 'the legend is not printed');
      await page.emulateMedia({ media: 'print' });
      const cut = await page.evaluate(() => {
        const boxes = Array.from(document.querySelectorAll('#tiles > svg'), (tile) => tile.viewBox.baseVal);
        const toPicture = document.getElementById('whole').getScreenCTM().inverse();
        return Array.from(document.querySelectorAll('#whole .node text'), (text) => {
          const { left, right, top, bottom } = text.getBoundingClientRect();
          return [new DOMPoint(left, top), new DOMPoint(right, bottom)].map((point) => point.matrixTransform(toPicture));
        }).filter(([start, end]) => !boxes.some(({ x, y, width, height }) => x <= start.x && y <= start.y && end.x <= x + width && end.y <= y + height)).length;
      });
      expect(!cut, `${cut} names are whole on no sheet`);
      await page.emulateMedia({ media: null });
      const count = await sheets({ preferCSSPageSize: true });
      expect(count === tiles, `${tiles} parts take ${count} sheets`);
      return `${tiles} sheets of A4`;
    });
  }
}

export function loaded(page) {
  return page.waitForFunction(() => !document.querySelector('[aria-busy]') && !document.getElementById('work')?.hidden);
}

// A node that is in sight, and its middle.
function inSight(page, place, kind = '.host') {
  return page.evaluate(([place, kind]) => {
    const inSight = Array.from(document.querySelectorAll(`.nodes > ${kind}`), (part) => {
      const box = part.getBoundingClientRect();
      return { id: part.dataset.id, x: box.x + box.width / 2, y: box.y + box.height / 2, part };
    }).filter(({ x, y, part }) => part.contains(document.elementFromPoint(x, y)));
    const { id, x, y } = inSight[place];
    return { id, x, y };
  }, [place, kind]);
}

// Drags a node that is in sight, and returns its id.
async function dragFirst(page, right, down, place = 0, kind = '.host') {
  const { id, x, y } = await inSight(page, place, kind);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + right, y + down, { steps: 6 });
  await page.mouse.up();
  return id;
}
