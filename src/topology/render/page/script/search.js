const MATCH_LIMIT = 10;

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
    this.active = 0;
    this.show();
    if (query) announce(this.matches.length ? `${plural(this.matches.length, 'node')} found` : 'No node found');
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
    this.count.textContent = length > MATCH_LIMIT ? `${number(length)} found, the first ${MATCH_LIMIT} are listed` : '';
    this.input.ariaExpanded = isOpen;
    this.list.replaceChildren(...this.matches.slice(0, MATCH_LIMIT).map((node, place) => this.row(node, place)));
    if (isOpen) this.input.setAttribute('aria-activedescendant', `match-${this.active}`);
    else this.input.removeAttribute('aria-activedescendant');
  }

  row(node, place) {
    const properties = { id: `match-${place}`, role: 'option', ariaSelected: place === this.active };
    const row = create('li', properties, create('span', { dir: 'auto' }, node.label),
      create('span', {}, this.network.describe(node)));
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

  choose(place) {
    const node = this.matches[place];
    if (!node) {
      if (this.input.value.trim()) announce('No node found', true);
      return;
    }
    this.close();
    show(node, this.camera, this.selection);
  }

  close() {
    this.matches = [];
    this.show();
  }
}

// Selects a node, brings it to the middle at a readable scale, and gives it the focus.
function show(node, camera, selection) {
  selection.selectNode(node);
  selection.cursor.focus(node);
  camera.centerOn(middle(node), Math.max(camera.scale, READABLE_SCALE));
}
