// The filters, in their order in the form. `ofNode` or `ofEdge` returns the value by which the page itself hides nodes or links. A
// filter with `load`, which promises its choices as `[value, text]`, is applied by the server, as the parameter of this name. With
// `isSingle`, at most one value is chosen. A filter without choices does not show.
const FILTERS = [{ name: 'role', title: 'Role', ofNode: (node) => node.role }];

class Filters {
  constructor(network, permalink, serve = () => {}) {
    Object.assign(this, { network, permalink, serve, chosen: new Map() });
    this.form = byId('filters');
    for (const filter of FILTERS) {
      filter.group = create('fieldset', { hidden: true }, create('legend', {}, filter.title));
      this.form.append(filter.group);
      filter.group.addEventListener('change', () => this.change(filter));
    }
    this.form.addEventListener('submit', (event) => event.preventDefault());
    this.form.addEventListener('beforetoggle', (event) => event.newState === 'open' && this.fill());
    onClick('clear-filters', () => this.clear());
    network.hiders.push((node) => this.hidesNode(node));
    network.edgeHiders.push((edge) => this.hidesEdge(edge));
    network.listeners.push(() => this.update());
    permalink.listeners.push(() => this.read() && this.serve());
    this.read();
  }

  read() {
    const before = this.parameters().toString();
    for (const filter of FILTERS) this.chosen.set(filter.name, new Set(this.permalink.list(filter.name)));
    this.update();
    return before !== this.parameters().toString();
  }

  // What the server filters by.
  parameters() {
    const served = FILTERS.filter(({ name, load }) => load && this.chosen.get(name)?.size);
    return new URLSearchParams(served.map(({ name }) => [name, [...this.chosen.get(name)].join(',')]));
  }

  hidesNode(node) {
    if (this.network.children.has(node.id)) return false;
    return FILTERS.some(({ name, ofNode }) => ofNode && this.misses(name, ofNode(node)));
  }

  hidesEdge(edge) {
    return FILTERS.some(({ name, ofEdge }) => ofEdge && this.misses(name, ofEdge(edge)));
  }

  misses(name, value) {
    const chosen = this.chosen.get(name);
    return chosen?.size > 0 && !chosen.has(String(value));
  }

  async fill() {
    for (const filter of FILTERS) {
      const choices = await this.choices(filter);
      filter.group.hidden = !choices.length;
      const boxes = choices.map(([value, text]) => this.box(filter, value, text));
      filter.group.replaceChildren(filter.group.firstChild, ...boxes);
    }
  }

  async choices({ name, ofNode, ofEdge, load }) {
    try {
      if (load) return await load();
    } catch (error) {
      announce(`${error.message}`, true);
      return [];
    }
    const { nodes, edges } = this.network.graph;
    const values = ofNode ? nodes.filter((node) => !this.network.children.has(node.id)).map(ofNode) : edges.map(ofEdge);
    const counts = new Map();
    for (const value of values.filter((value) => value != null)) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
    for (const value of this.chosen.get(name)) if (!counts.has(value)) counts.set(value, 0);
    return [...counts].map(([value, count]) => [value, `${words(value)} (${count})`]).sort(byText(([, text]) => text));
  }

  box({ name, isSingle }, value, text) {
    const input = create('input', { type: isSingle ? 'radio' : 'checkbox', name, value, checked: this.chosen.get(name).has(value) });
    return create('label', {}, input, nameText(text));
  }

  change({ name, group, load }) {
    const checked = Array.from(group.querySelectorAll('input:checked'), (input) => input.value);
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
    this.fill();
    this.report();
  }

  update() {
    const count = [...this.chosen.values()].reduce((sum, values) => sum + values.size, 0);
    // A page that is only looked at does not read its graph.
    if (count || this.network.hasHidden) this.network.updateHidden();
    byId('open-filters').textContent = count ? `Filter (${count})` : 'Filter';
    byId('open-filters').classList.toggle('is-active', count > 0);
  }

  report() {
    const { graph, hiddenNodes } = this.network;
    announce(`${plural(graph.nodes.length - hiddenNodes.size, 'node')} of ${number(graph.nodes.length)} shown`);
  }
}
