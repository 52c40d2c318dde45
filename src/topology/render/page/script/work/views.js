const REFRESH_MILLISECONDS = 30_000;

// Which picture the page shows: a view, with what is unfolded and what the server filters by. It is loaded again when it changes.
class Views {
  constructor(viewer, permalink) {
    Object.assign(this, { viewer, permalink, view: viewerData.view, expand: new Set(), filters: null, loads: 0, listeners: [] });
    this.tag = viewerData.tag;
    this.base = new URLSearchParams(location.search);
    this.initial = this.shown = this.parameters().toString();
    this.links = byId('views').querySelectorAll('[data-view]');
    for (const link of this.links) {
      link.addEventListener('click', (event) => {
        event.preventDefault();
        this.show(link.dataset.view);
      });
    }
    setInterval(() => document.hidden || this.refresh(), REFRESH_MILLISECONDS);
    document.addEventListener('visibilitychange', () => document.hidden || this.refresh());
    viewer.selection.folds = this;
    viewer.selection.panel.nodeActions.push((node) => this.actions(node));
  }

  // Shows what the address names, if that is another picture.
  read() {
    const [named] = this.permalink.list('view');
    this.view = [...this.links].some(({ dataset }) => dataset.view === named) ? named : viewerData.view;
    this.expand = new Set(this.permalink.list('expand'));
    this.mark();
    return this.parameters().toString() === this.shown ? null : this.load();
  }

  mark() {
    for (const link of this.links) {
      if (link.dataset.view === this.view) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    for (const listener of this.listeners) listener();
  }

  parameters() {
    const parameters = new URLSearchParams(this.base);
    parameters.set('view', this.view);
    if (this.expand.size) parameters.set('expand', [...this.expand].join(','));
    for (const [name, value] of this.filters?.parameters() ?? []) parameters.set(name, value);
    return parameters;
  }

  // The tag of the page is that of its address.
  address() {
    const query = this.parameters().toString();
    return location.pathname + (query === this.initial ? location.search : `?${query}`);
  }

  show(view) {
    if (view === this.view) return null;
    this.view = view;
    this.expand.clear();
    this.permalink.set('expand', []);
    this.permalink.set('view', [view === viewerData.view ? '' : view]);
    this.viewer.camera.isFitted = true;
    this.mark();
    return this.load();
  }

  load() {
    this.tag = '';
    return attempt(() => this.fetch());
  }

  // A picture that does not change stays, and so does what the reader looks at.
  async refresh() {
    if (this.viewer.pointer.pointers.size || this.isBusy?.()) return;
    try {
      await this.fetch();
      byId('freshness').textContent = '';
    } catch (error) {
      const since = new Date(this.loadedAt ?? performance.timeOrigin).toTimeString().slice(0, 5);
      byId('freshness').textContent = `Not updated since ${since}. ${error.message}`;
    }
  }

  // The page itself has picture and graph of the same moment.
  async fetch() {
    const turn = (this.loads += 1);
    const [address, shown] = [this.address(), this.parameters().toString()];
    const stage = byId('stage');
    stage.setAttribute('aria-busy', 'true');
    try {
      const response = await send(address, { headers: this.tag ? { 'If-None-Match': this.tag } : {} });
      this.loadedAt = Date.now();
      if (response.status === 304) return;
      const text = await response.text();
      // A later request shows something else.
      if (turn !== this.loads) return;
      this.tag = response.headers.get('ETag') ?? '';
      this.shown = shown;
      const page = new DOMParser().parseFromString(text, 'text/html');
      const picture = document.importNode(page.querySelector('#canvas > .topology'), true);
      byId('detail').replaceWith(page.getElementById('detail'));
      const json = page.getElementById('graph').textContent;
      replacePicture(this.viewer, () => JSON.parse(json), picture);
    } finally {
      if (turn === this.loads) stage.removeAttribute('aria-busy');
    }
  }

  // What is unfolded with a node: a part of the network by itself, and folded devices with the device that they are linked to,
  // or with the container around them.
  anchor(group) {
    if (group.kind !== 'Group') return group.id;
    return group.parent_id ?? this.viewer.network.links.get(group.id)[0]?.other;
  }

  // Opens a fold. Returns whether the node is one.
  open(node) {
    if (!node.collapsed) return false;
    this.unfold(this.anchor(node), node.collapsed);
    return true;
  }

  toggle(node) {
    const { links, nodes, children } = this.viewer.network;
    const near = [...links.get(node.id).map(({ other }) => nodes.get(other)), ...(children.get(node.id) ?? [])];
    const group = near.find((other) => other?.kind === 'Group');
    if (this.expand.has(node.id)) this.fold(node);
    else if (!this.open(group ?? node)) announce('Nothing to fold here');
  }

  async unfold(anchor, count) {
    const { network, selection } = this.viewer;
    selection.cursor.focus(network.nodes.get(anchor));
    this.expand.add(anchor);
    await this.change();
    announce(`${plural(count, 'device')} of ${network.label(anchor)} unfolded`);
  }

  async fold(node) {
    this.expand.delete(node.id);
    await this.change();
    announce(`Devices of ${node.label} folded`);
  }

  change() {
    this.permalink.set('expand', [...this.expand]);
    this.mark();
    return this.load();
  }

  actions(node) {
    if (node.collapsed) return [button(`Unfold ${plural(node.collapsed, 'device')}`, () => this.open(node))];
    return this.expand.has(node.id) ? [button('Fold its devices', () => this.fold(node))] : [];
  }
}

// Tags are names for people and ids for the server.
FILTERS.push({
  name: 'tag_ids',
  title: 'Tag',
  load: async () => (await ask('tags?limit=0')).map(({ id, name }) => [id, name]).sort(byText(([, name]) => name)),
});
