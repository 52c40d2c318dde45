// The selection, at most one node or edge, and the cursor of the keyboard.
class Selection {
  constructor(network, camera) {
    this.network = network;
    this.camera = camera;
    this.selected = null;
    this.highlight = null;
    // The other end of a path, where one is selected.
    this.other = null;
    this.listeners = [];
    this.ring = new Ring(create('div', { className: 'ring selected' }), camera);
    camera.stage.append(this.ring.element);
    this.cursor = new Cursor(byId('keyboard'), network, camera, this);
    this.panel = byId('panel') ? new Panel(byId('panel'), network, this) : null;
  }

  selectNode(node) {
    if (!this.isQuiet && this.paths?.choose(node)) return;
    const links = this.network.links.get(node.id);
    const inside = this.network.children.get(node.id) ?? [];
    const nodes = [node, ...inside, ...links.map((link) => this.network.nodes.get(link.other)).filter(Boolean)];
    this.mark(node, nodes, links.map((link) => link.edge));
    this.ring.surround(node);
    this.panel?.showNode(node);
    this.changed();
    if (this.isQuiet) return;
    this.camera.reveal(node);
    announce(`${node.label || 'Unnamed'} selected, ${plural(links.length, 'link')}`);
  }

  selectEdge(edge) {
    const ends = [edge.source, edge.target].map((id) => this.network.nodes.get(id)).filter(Boolean);
    this.mark(edge, ends, [edge]);
    this.panel?.showEdge(edge);
    this.changed();
    if (this.isQuiet) return;
    if (edge.points.length) this.camera.reveal(boxAround(edge.points));
    announce(`Link from ${this.network.label(edge.source)} to ${this.network.label(edge.target)} selected`);
  }

  // Dims the picture as a whole, and draws what is near the selection once more. Thousands of parts that are dimmed one by one
  // take a second to draw. Containers are not drawn again, because they would cover what is in them.
  mark(selected, nodes, edges) {
    this.unmark();
    const { elements, labels, picture } = this.network;
    this.highlight = createSvg('g', { class: 'highlight' });
    const near = [...edges, ...nodes].map(({ id }) => elements.get(id));
    for (const part of near.concat(edges.flatMap(({ id }) => labels.get(id) ?? []))) {
      if (!part || part.matches('.container')) continue;
      const copy = part.cloneNode(true);
      copy.classList.remove('is-hidden');
      copy.classList.toggle('is-selected', part === elements.get(selected.id));
      this.highlight.append(copy);
    }
    picture.querySelector('.content').append(this.highlight);
    picture.classList.add('has-selection');
    this.selected = selected;
    this.cursor.update();
  }

  unmark() {
    if (!this.selected) return;
    this.highlight.remove();
    this.network.picture.classList.remove('has-selection');
    this.ring.surround(null);
    this.selected = null;
    this.other = null;
    this.cursor.update();
  }

  changed() {
    notify(this.listeners);
  }

  // What is selected: a node, an edge, or the two ends of a path.
  ids() {
    return [this.selected, this.other].filter(Boolean).map(({ id }) => id);
  }

  // Selects what has these ids. What was selected before and is not drawn any more is not selected any more.
  restore([id, other], isSame = false) {
    if (!id && !this.selected) return;
    const hadFocus = this.panel?.hasFocus();
    const { scrollTop = 0 } = this.panel?.element ?? {};
    this.isQuiet = isSame;
    const node = this.network.nodes.get(id);
    const end = this.network.nodes.get(other);
    const edge = this.network.edges.get(id);
    if (node && end && this.paths) this.paths.select(node, end);
    else if (node) this.selectNode(node);
    else if (edge) this.selectEdge(edge);
    else this.clear();
    this.isQuiet = false;
    if (isSame && this.panel) this.panel.element.scrollTop = scrollTop;
    if (hadFocus && this.selected) this.panel.element.focus();
  }

  clear() {
    const hadFocus = this.panel?.hasFocus();
    this.panel?.hide();
    this.paths?.end();
    if (!this.selected) return;
    this.unmark();
    this.changed();
    if (hadFocus) this.cursor.focus();
    announce('Selection cleared');
  }

  toggle(node) {
    if (this.folds?.open(node)) return;
    if (this.selected === node) this.clear();
    else this.selectNode(node);
  }
}

// A frame around a node. It lies over the picture, so that it is as thick at every scale.
class Ring {
  constructor(element, camera) {
    this.element = element;
    this.camera = camera;
    this.surround(null);
    camera.listeners.push(() => this.place());
  }

  surround(node) {
    this.node = node;
    this.element.hidden = !node;
    this.place();
  }

  place() {
    if (!this.node) return;
    const { scale, offset } = this.camera;
    const style = this.element.style;
    style.width = `${this.node.width * scale + 4}px`;
    style.height = `${this.node.height * scale + 4}px`;
    style.transform = `translate(${offset.x + this.node.x * scale - 2}px, ${offset.y + this.node.y * scale - 2}px)`;
  }
}

// The node that the keyboard is at, as a button over the picture. So the page has one tab stop for all nodes, and none of them
// needs a name of its own for assistive technology. Two buttons take turns: screen readers read a button that receives the focus,
// but not one whose name changes.
class Cursor {
  constructor(area, network, camera, selection) {
    setFields(this, { area, network, camera, selection, node: null });
    this.buttons = [this.createButton(), this.createButton()];
    area.append(...this.buttons);
    this.rings = this.buttons.map((element) => new Ring(element, camera));
    this.rings[0].element.hidden = false;
    listen(area, 'focusin', () => this.entered());
    listen(area, 'click', () => this.node && selection.toggle(this.node));
  }

  createButton() {
    return create('button', { className: 'ring cursor', ariaLabel: 'First node', ariaPressed: 'false' });
  }

  // Places the cursor on the first node. Until then the button has a general name.
  prepare() {
    if (!this.node && this.network.order.length) this.moveTo(this.network.order[0]);
  }

  moveTo(node) {
    const [ring] = this.rings;
    this.node = node;
    ring.surround(node);
    ring.element.ariaLabel = this.name(node);
    this.update();
  }

  // The name begins with the text in the picture, which may be shortened, so that speech input finds what is seen.
  name(node) {
    const part = this.network.elements.get(node.id);
    const seen = (part && Array.from(part.querySelectorAll('text'), (text) => text.textContent).join(' ')) || node.label;
    const whole = seen.includes(node.label) ? '' : ` (${node.label.slice(0, 300)})`;
    const links = this.network.links.get(node.id).length;
    return `${seen || 'Unnamed'}${whole}: ${this.network.describe(node)}, ${plural(links, 'link')}`;
  }

  // Stays at the same node of another picture, or begins anew.
  keep(node) {
    if (node) return this.moveTo(node);
    this.node = null;
    for (const ring of this.rings) ring.node = null;
    this.prepare();
  }

  update() {
    if (this.node) this.rings[0].element.ariaPressed = this.selection.selected === this.node;
  }

  // Moves the focus to a node, or back to the node that the cursor is at.
  focus(node = this.node) {
    if (!node) return;
    const isOtherNode = node !== this.node;
    if (isOtherNode) this.rings.reverse();
    this.moveTo(node);
    this.rings[0].element.focus({ preventScroll: true });
    if (isOtherNode) this.rings[1].surround(null);
  }

  hasFocus() {
    return this.area !== document.activeElement && this.area.contains(document.activeElement);
  }

  entered() {
    if (!this.hasFocus()) return;
    this.prepare();
    if (this.node && document.activeElement.matches(':focus-visible')) this.camera.reveal(this.node);
  }
}
