// Questions of the page beside the picture: paths, hosts that are not drawn, and undoing beside the changes of other users.

import { expect } from './browser.mjs';
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
