const REFRESH_MILLISECONDS = 30_000;

// Which picture the page shows: a view, with what is unfolded and what the server filters by. It is loaded again when it changes.
class Views {
  constructor(viewer, permalink) {
    setFields(this, { viewer, permalink, view: viewerData.view, expand: new Map(), filters: null, loads: 0, listeners: [] });
    this.tag = viewerData.tag;
    this.base = new URLSearchParams(location.search);
    this.initial = this.shown = this.parameters().toString();
    this.links = [...byId('views').querySelectorAll('[data-view]')];
    for (const link of this.links) {
      listen(link, 'click', (event) => {
        event.preventDefault();
        this.show(link.dataset.view);
      });
    }
    setInterval(() => this.refresh(), REFRESH_MILLISECONDS);
    listen(document, 'visibilitychange', () => this.refresh());
    viewer.selection.folds = this;
    viewer.pointer.onRelease = () => this.isLate && this.load();
    viewer.selection.panel.nodeActions.push((node) => this.actions(node));
  }

  // Shows what the address names, if that is another picture.
  read() {
    const [named] = this.permalink.list('view');
    this.view = this.links.some((link) => link.dataset.view === named) ? named : viewerData.view;
    this.expand = new Map(this.permalink.list('expand').map((pair) => pair.split('.')).filter(([id]) => isId(id)));
    this.mark();
    return this.parameters().toString() === this.shown ? null : this.load();
  }

  mark() {
    for (const link of this.links) link.ariaCurrent = link.dataset.view === this.view ? 'page' : null;
    notify(this.listeners);
  }

  parameters() {
    const parameters = new URLSearchParams(this.base);
    parameters.set('view', this.view);
    if (this.expand.size) parameters.set('expand', [...this.expand.keys()].join(','));
    for (const [name, value] of this.filters?.parameters() ?? []) parameters.set(name, value);
    this.time?.apply(parameters);
    return parameters;
  }

  // Links of the past are neither explained nor edited.
  isNow() {
    const parameters = this.parameters();
    return !['at', 'compare'].some((name) => parameters.has(name));
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
    if (document.hidden || this.viewer.pointer.isHolding()) return;
    try {
      await this.fetch();
      reportFreshness(this.viewer);
    } catch (error) {
      reportFreshness(this.viewer, error);
    }
  }

  // The page itself has picture and graph of the same moment.
  async fetch() {
    const turn = (this.loads += 1);
    const [address, shown] = [this.address(), this.parameters().toString()];
    const stage = byId('stage');
    stage.ariaBusy = 'true';
    try {
      const response = await send(address, { headers: this.tag ? { 'If-None-Match': this.tag } : {} });
      this.viewer.loadedAt = Date.now();
      if (response.status === 304) return;
      const text = await response.text();
      // A later request shows something else.
      if (turn !== this.loads) return;
      // It would take away what the reader holds: another one is loaded afterwards.
      this.isLate = this.viewer.pointer.isHolding();
      if (this.isLate) return;
      this.tag = response.headers.get('ETag') ?? '';
      this.shown = shown;
      const page = new DOMParser().parseFromString(text, 'text/html');
      const picture = document.importNode(page.querySelector('#canvas > .topology'), true);
      byId('detail').replaceWith(page.getElementById('detail'));
      const json = page.getElementById('graph').textContent;
      replacePicture(this.viewer, () => JSON.parse(json), picture);
    } finally {
      if (turn === this.loads) stage.ariaBusy = null;
    }
  }

  // Opens a fold or a part of the network. Returns whether the node is one.
  open(node) {
    if (!node.collapsed) return false;
    this.unfold(node);
    return true;
  }

  toggle(node) {
    const { links, nodes, children } = this.viewer.network;
    const near = [...links.get(node.id).map(({ other }) => nodes.get(other)), ...(children.get(node.id) ?? [])];
    if (this.foldOf(node)) this.fold(node);
    else if (!this.open(node) && !near.some((other) => other?.kind === 'Group' && this.open(other))) announce('Nothing to fold here');
  }

  // A group of folded devices belongs to the device that it is linked to, or the container around it. By this one, it is folded again.
  // A part of the network is folded again by itself.
  async unfold({ id, kind, parent_id: parent, collapsed }) {
    const { network, selection } = this.viewer;
    const anchor = kind === 'Group' ? network.links.get(id)[0]?.other ?? parent : id;
    selection.cursor.focus(network.nodes.get(anchor));
    this.expand.set(id, anchor);
    await this.change();
    announce(`${plural(collapsed, 'device')} of ${network.label(anchor)} unfolded`);
  }

  // The id by which the devices of a node are unfolded.
  foldOf({ id }) {
    return [...this.expand].find((pair) => pair.includes(id))?.[0];
  }

  async fold(node) {
    this.expand.delete(this.foldOf(node));
    await this.change();
    announce(`Devices of ${node.label} folded`);
  }

  change() {
    this.permalink.set('expand', [...this.expand].map((pair) => pair.join('.')));
    this.mark();
    return this.load();
  }

  actions(node) {
    if (node.collapsed) return [button(`Unfold ${plural(node.collapsed, 'device')}`, () => this.open(node))];
    return this.foldOf(node) ? [button('Fold its devices', () => this.fold(node))] : [];
  }
}

// The server refuses a request with an id that is none.
const isId = (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

const GROUPINGS = ['location', 'subnet', 'tag'];

// Tags are names for people and ids for the server.
FILTERS.push({
  name: 'tag_ids',
  title: 'Tag',
  accepts: isId,
  load: async () => (await ask('tags?limit=0')).map(({ id, name }) => [id, name]).sort(byText(([, name]) => name)),
}, {
  name: 'vlan',
  title: 'VLAN',
  unset: 'any',
  accepts: (text) => /^\d{1,4}$/.test(text),
  load: async () => (await ask(`topology/vlans?${ofNetwork()}`)).vlans.map(({ vlan, name }) => [`${vlan}`, `${vlan} ${name ?? ''}`]),
}, {
  name: 'group_by',
  title: 'Grouped by',
  unset: 'none',
  accepts: (text) => GROUPINGS.includes(text),
  load: () => GROUPINGS.map((grouping) => [grouping, grouping]),
});
