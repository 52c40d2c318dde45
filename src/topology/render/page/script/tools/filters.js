// The filters, in their order in the form. `ofNode` returns the values by which the page itself hides nodes, as `[value, count]`. A
// filter with `load` is applied by the server, as the parameter of this name: `load` returns its choices as `[value, text]`, or a
// promise of them. Of an address, it takes the values that it `accepts`. With `unset`, the text of no choice, at most one value is
// chosen. A filter without choices does not show.
const FILTERS = [{
  name: 'role',
  title: 'Role',
  ofNode: ({ role, folded }) => folded?.map(({ role, count }) => [role, count]) ?? [[role, 1]],
}, {
  name: 'state',
  title: 'State',
  ofNode: ({ state }) => (state ? [[state, 1]] : []),
}];

class Filters {
  constructor(network, permalink, serve = () => {}) {
    setFields(this, { network, permalink, serve, chosen: new Map() });
    this.form = byId('filters');
    for (const filter of FILTERS) {
      filter.group = create('fieldset', { hidden: true }, create('legend', {}, filter.title));
      this.form.append(filter.group);
      listen(filter.group, 'change', () => this.change(filter));
    }
    listen(this.form, 'submit', (event) => event.preventDefault());
    listen(this.form, 'beforetoggle', (event) => event.newState === 'open' && this.fill());
    onClick('clear-filters', () => this.clear());
    network.hiders.push((node) => this.hidesNode(node));
    network.listeners.push(() => this.update());
    permalink.listeners.push(() => this.read() && this.serve());
    this.read();
  }

  read() {
    const before = this.parameters().toString();
    for (const { name, accepts = Boolean } of FILTERS) this.chosen.set(name, new Set(this.permalink.list(name).filter(accepts)));
    this.update();
    return before !== this.parameters().toString();
  }

  // What the server filters by.
  parameters() {
    const served = FILTERS.filter(({ name, load }) => load && this.chosen.get(name)?.size);
    return new URLSearchParams(served.map(({ name }) => [name, [...this.chosen.get(name)].join(',')]));
  }

  // Containers stay, and so does a segment as long as one of its devices does.
  hidesNode(node) {
    const { children, links, nodes } = this.network;
    if (!this.misses(node) || children.has(node.id)) return false;
    return node.kind !== 'Segment' || links.get(node.id).every(({ other }) => this.misses(nodes.get(other)));
  }

  misses(node) {
    return FILTERS.some(({ name, ofNode }) => {
      const chosen = this.chosen.get(name);
      return ofNode && chosen.size > 0 && !ofNode(node).some(([value]) => chosen.has(value));
    });
  }

  async fill() {
    for (const filter of FILTERS) {
      const choices = await this.choices(filter);
      const { group } = filter;
      group.hidden = !choices.length;
      if (filter.unset) choices.unshift(['', filter.unset]);
      const offered = JSON.stringify(choices);
      // Boxes whose choices are the same stay, and so does the focus in them.
      if (offered !== filter.offered) {
        group.replaceChildren(group.firstChild, ...choices.map((choice) => this.box(filter, choice)));
      }
      filter.offered = offered;
      this.check();
    }
  }

  check() {
    for (const input of this.form.querySelectorAll('input')) {
      const chosen = this.chosen.get(input.name);
      input.checked = input.value ? chosen.has(input.value) : !chosen.size;
    }
  }

  async choices({ name, ofNode, load }) {
    try {
      if (load) return await load();
    } catch (error) {
      announce(error.message, true);
      return [];
    }
    const { graph, children } = this.network;
    const counts = new Map(Array.from(this.chosen.get(name), (value) => [value, 0]));
    const devices = graph.nodes.filter(({ id, kind }) => kind !== 'Segment' && !children.has(id));
    for (const [value, count] of devices.flatMap(ofNode)) counts.set(value, (counts.get(value) ?? 0) + count);
    return [...counts].map(([value, count]) => [value, `${words(value)} (${count})`]).sort(byText(([, text]) => text));
  }

  box({ name, unset }, [value, text]) {
    const input = create('input', { type: unset ? 'radio' : 'checkbox', name, value });
    return create('label', {}, input, nameText(text));
  }

  change({ name, group, load }) {
    const checked = Array.from(group.querySelectorAll('input:checked'), (input) => input.value).filter(Boolean);
    this.choose(name, checked, Boolean(load));
    this.report();
  }

  choose(name, values, isServed) {
    this.chosen.set(name, new Set(values));
    this.permalink.set(name, values);
    this.update();
    if (isServed) this.serve();
  }

  clear() {
    const wasServed = this.parameters().size > 0;
    for (const { name } of FILTERS) this.choose(name, [], false);
    if (wasServed) this.serve();
    this.check();
    this.report();
  }

  update() {
    const count = [...this.chosen.values()].reduce((sum, values) => sum + values.size, 0);
    // A page that is only looked at does not read its graph.
    if (count || this.network.hiddenNodes.size) this.network.updateHidden();
    byId('open-filters').textContent = count ? `Filter (${count})` : 'Filter';
    byId('open-filters').classList.toggle('is-active', count > 0);
  }

  report() {
    const nodes = this.network.graph.nodes.filter(({ kind }) => !['Segment', 'Group'].includes(kind));
    const shown = nodes.filter((node) => this.network.shows(node)).length;
    announce(`${plural(shown, 'node')} of ${number(nodes.length)} shown`);
  }
}
