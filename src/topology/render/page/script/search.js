const MATCH_LIMIT = 10;
const SEARCH_MILLISECONDS = 250;
// The number of characters that the server searches for at least, and the number of hosts that it is asked for.
const MIN_SEARCH = 2;
const FOUND_LIMIT = 50;

class Search {
  constructor(network, camera, selection) {
    setFields(this, { network, camera, selection, matches: [], active: 0 });
    this.input = byId('search');
    this.list = byId('matches');
    this.box = byId('found');
    this.count = byId('match-count');
    listen(this.input, 'input', () => this.update());
    listen(this.input, 'focus', () => this.update());
    listen(this.input, 'blur', () => this.close());
    listen(this.input, 'keydown', (event) => this.press(event));
    // The press would take the focus from the input before the click arrives.
    listen(this.list, 'pointerdown', (event) => event.preventDefault());
    listen(this.list, 'click', (event) => this.choose(Number(event.target.closest('li')?.dataset.place)));
  }

  update() {
    const query = this.input.value.trim().toLowerCase();
    this.matches = query ? this.find(query) : [];
    setFields(this, { active: 0, isCut: false });
    this.show();
    this.asking = query.length >= MIN_SEARCH && this.undrawn ? this.addUndrawn(query) : null;
    if (query && !this.asking) this.report();
  }

  // Hosts that only the server finds follow. On the page of a network, `undrawn` asks for them.
  async addUndrawn(query) {
    const { matches } = this;
    await new Promise((resolve) => setTimeout(resolve, SEARCH_MILLISECONDS));
    const hosts = matches === this.matches && (await this.undrawn.find(query));
    // The server has not answered, another search has begun, or a node was chosen.
    if (!hosts || matches !== this.matches) return;
    this.isCut = hosts.length === FOUND_LIMIT;
    const { network } = this;
    const found = new Set(matches.map(({ id }) => id));
    const drawn = (host) => [network.nodes.get(host.id)].find((node) => node && network.shows(node));
    matches.push(...hosts.filter(({ id }) => !found.has(id)).map((host) => drawn(host) ?? host));
    this.show();
    this.report();
  }

  report() {
    const { length } = this.matches;
    announce(length ? this.found(length) : this.nothing());
  }

  found(count) {
    return `${plural(count, 'node')} ${this.isCut ? 'or more ' : ''}found`;
  }

  nothing() {
    return this.asking ? 'No node or host found' : 'Not drawn in this picture';
  }

  // Names that begin with the query come first. Addresses are searched too.
  find(query) {
    const found = { beginning: [], containing: [] };
    for (const node of this.network.order) {
      const place = `${node.label} ${node.detail ?? ''}`.toLowerCase().indexOf(query);
      if (place === 0) found.beginning.push(node);
      else if (place > 0) found.containing.push(node);
    }
    const byName = byText((node) => node.label);
    return [...found.beginning.sort(byName), ...found.containing.sort(byName)];
  }

  show() {
    const isOpen = this.matches.length > 0;
    this.list.hidden = !isOpen;
    this.box.hidden = !isOpen;
    const { length } = this.matches;
    this.count.textContent = length > MATCH_LIMIT ? `${this.found(length)}, the first ${MATCH_LIMIT} are listed` : '';
    this.input.ariaExpanded = isOpen;
    this.list.replaceChildren(...this.matches.slice(0, MATCH_LIMIT).map((node, place) => this.row(node, place)));
    if (isOpen) this.input.setAttribute('aria-activedescendant', `match-${this.active}`);
    else this.input.removeAttribute('aria-activedescendant');
  }

  row(node, place) {
    const properties = { id: `match-${place}`, role: 'option', ariaSelected: place === this.active };
    const row = create('li', properties, create('span', { dir: 'auto' }, node.label),
      create('span', {}, isInPicture(node) ? this.network.describe(node) : 'not drawn'));
    row.dataset.place = place;
    return row;
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.matches.length) {
      const listed = Math.min(this.matches.length, MATCH_LIMIT);
      this.active = (this.active + step + listed) % listed;
      this.show();
    } else if (event.key === 'Enter') {
      this.choose(this.active);
    } else if (event.key === 'Escape' && this.matches.length) {
      this.close();
    } else {
      return;
    }
    event.preventDefault();
  }

  async choose(place) {
    const { matches } = this;
    // The answer of the server may be on its way.
    if (!matches[place]) await this.asking;
    if (matches !== this.matches) return;
    const node = matches[place];
    if (!node) {
      if (this.input.value.trim()) announce(this.nothing(), true);
      return;
    }
    this.close();
    if (isInPicture(node)) show(node, this.camera, this.selection);
    else this.undrawn.open(node);
  }

  close() {
    this.matches = [];
    this.show();
  }
}

const isInPicture = (node) => 'x' in node;

// Selects a node, brings it to the middle at a readable scale, and gives it the focus.
function show(node, camera, selection) {
  selection.selectNode(node);
  selection.cursor.focus(node);
  camera.centerOn(middle(node), Math.max(camera.scale, READABLE_SCALE));
}
