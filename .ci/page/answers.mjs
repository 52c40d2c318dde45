// Questions of the page beside the picture: paths, hosts that are not drawn, and undoing beside the changes of other users.

import { expect, settle } from './browser.mjs';
import { loaded } from './network.mjs';

const PORTS = ['p1', 'p2'];

// Enters hosts of a test, lets `action` use them, and deletes them.
async function withHosts(network, names, action) {
  const hosts = [];
  for (const [name, state] of names) {
    const entries = PORTS.map((port, place) => ({ if_index: place + 1, if_name: port, if_descr: port, admin_status: 'Up', oper_status: place ? 'Up' : state }));
    const answer = await network.ask('POST', 'hosts', { name, network_id: network.id, if_entries: entries });
    expect(answer.ok, `a host is answered with ${answer.status}`);
    hosts.push((await answer.json()).data);
  }
  try {
    return await action(hosts);
  } finally {
    for (const { id } of hosts) await network.ask('DELETE', `hosts/${id}`);
  }
}

async function link(network, [source, from], [target, to]) {
  const end = (host, port) => ({ host_id: host.id, if_entry_id: host.if_entries[port].id });
  const answer = await network.ask('POST', 'topology/links', { network_id: network.id, source: end(source, from), target: end(target, to) });
  expect(answer.ok, `a link is answered with ${answer.status}`);
}

// The short way around a ring is down: the path takes the long one, and names the link that it does not take.
export function checkPath(browser, network) {
  const names = [['ring-a', 'Down'], ['ring-b', 'Down'], ['ring-c', 'Up'], ['ring-d', 'Up']];
  return withHosts(network, names, async ([a, b, c, d]) => {
    for (const [source, target] of [[[a, 0], [b, 0]], [[a, 1], [c, 0]], [[c, 1], [d, 0]], [[d, 1], [b, 1]]]) await link(network, source, target);
    return network.visit(browser, async (page) => {
      await page.waitForSelector('#panel .hops li');
      const hops = await page.locator('#panel .hops .link-button').allInnerTexts();
      expect(hops.join() === 'ring-a,ring-c,ring-d,ring-b', `the path leads over ${hops}`);
      const unused = await page.textContent('#panel .unused');
      expect(unused.includes('ring-a – ring-b') && unused.includes('down'), `the link that is down is not named: ${unused}`);
      return `${hops.length} hops`;
    }, {}, `?detail=devices#select=${a.id},${b.id}`);
  });
}

// A host without a link is found, and so is one in a part of an overview.
export function checkUndrawn(browser, network) {
  return withHosts(network, [['unlinked-host', 'Up'], ['folded-a', 'Up'], ['folded-b', 'Up']], async ([, a, b]) => {
    await link(network, [a, 0], [b, 0]);
    return network.visit(browser, async (page) => {
      await loaded(page);
      await network.goTo(page, 'unlinked-host');
      await page.waitForSelector('#panel:not([hidden])');
      const text = await page.textContent('#panel');
      expect(text.includes('Not drawn') && text.includes('No link'), `the panel of a host without a link: ${text}`);
      // The box has the names of its devices.
      await page.locator('#search').fill('folded-a');
      await page.locator('#matches li', { hasText: 'not drawn' }).click();
      await page.locator('#panel a').click();
      await page.waitForSelector(`.nodes > [data-id="${a.id}"]`);
      await network.goTo(page, 'no such host');
      await page.waitForFunction(() => document.getElementById('status').textContent === 'No node or host found');
    }, {}, '?detail=overview');
  });
}

// An undo leaves what another user has changed since, and a deleted link comes back.
export function checkUndo(browser, network) {
  return network.visit(browser, async (page, { expected }) => {
    // Chromium itself reports the refused request.
    expected.push('412');
    await loaded(page);
    await page.locator('#keyboard').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Alt+ArrowLeft');
    await page.waitForFunction(() => !document.getElementById('undo').disabled);
    await loaded(page);
    const [{ id, x, y }] = (await network.layout()).positions;
    await network.ask('PUT', `topology/layouts/${network.id}/l2`, { positions: [{ id, x: x + 80, y }] });
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('Not undone'));
    const [after] = (await network.layout()).positions;
    expect(after?.x === x + 80, 'an undo overwrites the position of another user');
    await network.ask('PUT', `topology/layouts/${network.id}/l2`, { positions: [] });
    await checkDeletedLink(page, network);
  });
}

function checkDeletedLink(page, network) {
  return withHosts(network, [['cable-a', 'Up'], ['cable-b', 'Up']], async ([a, b]) => {
    const links = async () => (await network.read(`topology/links?network_id=${network.id}&limit=0`)).filter(({ source }) => source.host_id === a.id);
    await link(network, [a, 0], [b, 1]);
    await page.locator('#open-links').click();
    const row = page.locator('#links .entry', { hasText: 'cable-a p1' });
    await row.locator('button').click();
    await row.waitFor({ state: 'detached' });
    expect(!(await links()).length, 'the link is not deleted');
    await page.locator('#close-links').click();
    await page.locator('#undo').click();
    await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('Undone'));
    const [restored] = await links();
    expect(restored?.target.if_entry_id === b.if_entries[1].id, 'the deleted link does not come back with its ports');
    await settle(page);
  });
}
