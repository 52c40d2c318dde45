// Hosts that the picture does not draw: they are folded, filtered, or without a link. Searches find them too.
class Undrawn {
  constructor({ network, selection, search }, views) {
    setFields(this, { network, selection, views });
    search.undrawn = this;
  }

  // The first hosts that match, as far as the server answers. Pictures of the past have others than these.
  async find(query) {
    if (!this.views.isNow()) return [];
    const fields = { search: query, limit: FOUND_LIMIT, fields: 'id,name', order_by: 'name_natural' };
    const hosts = await attempt(() => ask(`hosts?${ofNetwork(fields)}`));
    return hosts?.map(({ id, name }) => ({ id, label: name || 'Unnamed' }));
  }

  open(host) {
    return attempt(() => this.explain(host));
  }

  // Shows where a host is connected.
  async explain({ id, label }) {
    const { candidates } = await ask(`topology/locate?${ofNetwork({ name: id })}`);
    const { network, selection } = this;
    const { panel } = selection;
    selection.clear();
    const place = network.nodes.has(id) ? 'Hidden by a filter' : 'Not drawn';
    panel.show(label, [['Picture', place]]);
    const { view } = this.views;
    const query = new URLSearchParams({ view, detail: 'devices', focus: id });
    const link = create('a', { href: `?${query}#select=${id}` }, 'Draw it with its neighbors');
    const isLinked = candidates.length > 0;
    const facts = [isLinked ? '' : 'No link of it is known.', isLinked || view !== 'l2' ? link : ''];
    panel.element.append(create('p', { className: 'actions' }, ...facts));
    panel.addList('Connected to', candidates, (at) =>
      create('span', {}, panel.nodeButton(idOf(at), at.name), at.port ? create('small', {}, 'Port ', nameText(at.port)) : ''));
    panel.element.focus();
    announce(`${label}: ${place}`);
  }
}
