// The behavior of the share page: moves through the picture, explains what is selected, saves files, asks for the password.
// Text reaches the document as text nodes only, so that no name is ever read as markup.

const SCALE_LIMITS = { smallest: 0.02, largest: 4 };
// Below this scale port names are too small to read.
const PORT_SCALE = 0.55;
const KEY_ZOOM = 1.3;
const KEY_PAN = 80;
const MARGIN = 24;
// A press that moves further than this many pixels drags the picture and selects nothing.
const DRAG_DISTANCE = 4;
const EDGE_REACH = 8;
const FLIGHT_MILLISECONDS = 220;
const REST_MILLISECONDS = 180;
const MATCH_LIMIT = 10;
const ROWS_PER_FRAME = 100;
const MINIMAP_SIZE = { width: 200, height: 140 };
const PNG_LIMITS = { scale: 2, side: 8192, pixels: 33_000_000 };
const REQUEST_MILLISECONDS = 30_000;
const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

const CONFIDENCE = {
  Confirmed: 'Confirmed: both ends name each other, or a user entered the link',
  Reported: 'Reported: one end names the other',
  Inferred: 'Inferred from forwarding tables',
  Conflicting: 'Conflicting: equally strong claims contradict each other',
};
const EDGE_KINDS = {
  Physical: 'Cable between two ports',
  Adjacency: 'Neighbors, ports unknown',
  Bridged: 'Connection through a segment, or inferred',
  Routed: 'Link between routers',
  Member: 'Interface in a subnet',
  Hosts: 'Runs on',
};
const NODE_KINDS = {
  Stub: 'not scanned',
  Segment: 'shared segment',
  Service: 'container',
  Subnet: 'subnet',
  Group: 'folded devices',
};
const RULES = {
  manual: 'Entered by a user',
  mutual_lldp: 'Each end names the other by LLDP',
  mutual_cdp: 'Each end names the other by CDP',
  one_sided_lldp: 'One end names the other by LLDP',
  one_sided_cdp: 'One end names the other by CDP',
  stored_neighbor: 'Neighbor stored with the interface',
  stp_designated: 'Designated bridge of the spanning tree',
  mutual_fdb: 'Each end learned the other’s address on one port',
  shared_fdb: 'Shared forwarding entries show no bridge in between',
  single_sided_fdb: 'One port learned the address of a single device',
};
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// ---- The document

const byId = (id) => document.getElementById(id);

function create(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

function createSvg(name, attributes = {}) {
  const created = document.createElementNS(SVG_NAMESPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value);
  return created;
}

// A name of the network, in a direction of its own: right-to-left names do not reorder what is beside them.
const nameText = (text) => create('bdi', {}, text);

function button(label, action, properties = {}) {
  const created = create('button', { type: 'button', ...properties }, label);
  created.addEventListener('click', action);
  return created;
}

// Tells users of screen readers what happened. A notice is shown too, for a while.
let noticeTimer = 0;
function announce(text, isNotice = false) {
  const status = byId('status');
  status.textContent = text;
  status.classList.toggle('unseen', !isNotice);
  clearTimeout(noticeTimer);
  if (isNotice) noticeTimer = setTimeout(() => status.classList.add('unseen'), 5000);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const words = (code) => code.replaceAll('_', ' ');
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
const time = (timestamp) => (timestamp ? `${timestamp.slice(0, 16).replace('T', ' ')} UTC` : 'unknown');

function speed(bitsPerSecond) {
  const units = [[1e12, 'Tbit/s'], [1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s']];
  const [size, unit] = units.find(([size]) => bitsPerSecond >= size) ?? [1, 'bit/s'];
  return `${Number((bitsPerSecond / size).toFixed(2))} ${unit}`;
}

// ---- The network

// The graph with its elements in the picture: what is linked to what, and where it is.
class Network {
  constructor(graph, picture) {
    this.graph = graph;
    this.picture = picture;
    shift(graph, picture.querySelector('.content'));
    this.elements = new Map();
    for (const part of picture.querySelectorAll('[data-id]')) this.elements.set(part.dataset.id, part);
    this.labels = labelsByEdge(picture);
    this.nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.edges = new Map(graph.edges.map((edge) => [edge.id, edge]));
    this.links = new Map(graph.nodes.map((node) => [node.id, []]));
    for (const edge of graph.edges) {
      this.links.get(edge.source)?.push({ edge, other: edge.target, isSource: true });
      if (edge.target !== edge.source) this.links.get(edge.target)?.push({ edge, other: edge.source, isSource: false });
    }
    this.children = childrenByParent(graph.nodes);
    this.order = readingOrder(graph.nodes.filter((node) => this.elements.has(node.id)));
  }

  label(id) {
    return this.nodes.get(id)?.label || 'Unnamed';
  }

  describe(node) {
    const kind = NODE_KINDS[node.kind];
    const role = node.role === 'unknown' ? (kind ?? 'unknown role') : words(node.role);
    const parts = [role];
    if (kind && kind !== role) parts.push(kind);
    if (node.collapsed > 0) parts.push(`${plural(node.collapsed, 'device')} drawn as one`);
    if (node.stale) parts.push('not seen recently');
    return parts.join(', ');
  }

  ancestors(node) {
    const found = [];
    let next = this.nodes.get(node.parent_id);
    // The bound keeps a damaged graph from looping.
    while (next && found.length < 32) {
      found.push(next);
      next = this.nodes.get(next.parent_id);
    }
    return found;
  }

  // The linked node that lies in a direction, or else the nearest node there.
  neighborTowards(node, direction) {
    const linked = this.links.get(node.id).map((link) => this.nodes.get(link.other));
    return nearestTowards(node, linked, direction) ?? nearestTowards(node, this.order, direction);
  }

  // The edge whose line passes closest to a point, within a distance.
  edgeNear(point, reach) {
    let nearest = null;
    let best = reach;
    for (const edge of this.graph.edges) {
      const distance = distanceToLine(point, edge.points);
      if (distance < best) [nearest, best] = [edge, distance];
    }
    return nearest;
  }
}

// The picture may center the graph: gives nodes and lines the coordinates of the picture.
function shift(graph, content) {
  const move = content?.transform.baseVal.consolidate()?.matrix;
  if (!move) return;
  for (const node of graph.nodes) {
    node.x += move.e;
    node.y += move.f;
  }
  for (const edge of graph.edges) edge.points = edge.points.map(([x, y]) => [x + move.e, y + move.f]);
}

function labelsByEdge(picture) {
  const labels = new Map();
  for (const label of picture.querySelectorAll('[data-edge]')) {
    const { edge } = label.dataset;
    if (!labels.has(edge)) labels.set(edge, []);
    labels.get(edge).push(label);
  }
  return labels;
}

function childrenByParent(nodes) {
  const children = new Map();
  for (const node of nodes) {
    if (!children.has(node.parent_id)) children.set(node.parent_id, []);
    children.get(node.parent_id).push(node);
  }
  return children;
}

const middle = (node) => ({ x: node.x + node.width / 2, y: node.y + node.height / 2 });

// By rows from top to bottom, and within a row from left to right.
function readingOrder(nodes) {
  return nodes.sort((one, other) => one.y - other.y || one.x - other.x);
}

function nearestTowards(node, candidates, [directionX, directionY]) {
  const from = middle(node);
  let nearest = null;
  let best = Infinity;
  for (const candidate of candidates) {
    if (!candidate || candidate === node) continue;
    const to = middle(candidate);
    const along = (to.x - from.x) * directionX + (to.y - from.y) * directionY;
    const across = Math.abs((to.x - from.x) * directionY) + Math.abs((to.y - from.y) * directionX);
    // Sideways distance counts double, so that the straight way wins.
    const cost = along + 2 * across;
    if (along > 0 && across <= 2 * along && cost < best) [nearest, best] = [candidate, cost];
  }
  return nearest;
}

function distanceToLine(point, corners) {
  let best = Infinity;
  for (let corner = 1; corner < corners.length; corner += 1) {
    const [startX, startY] = corners[corner - 1];
    const [endX, endY] = corners[corner];
    const [stepX, stepY] = [endX - startX, endY - startY];
    const length = stepX * stepX + stepY * stepY || 1;
    const part = clamp(((point.x - startX) * stepX + (point.y - startY) * stepY) / length, 0, 1);
    best = Math.min(best, Math.hypot(startX + part * stepX - point.x, startY + part * stepY - point.y));
  }
  return best;
}

// ---- The camera

// The part of the picture that the stage shows. A point of the graph appears at `offset + scale × point`.
class Camera {
  constructor(stage, picture) {
    this.stage = stage;
    this.picture = picture;
    this.box = picture.viewBox.baseVal;
    this.listeners = [];
    this.scale = 1;
    this.offset = { x: 0, y: 0 };
    this.isFitted = true;
    new ResizeObserver(() => this.resize()).observe(stage);
  }

  resize() {
    const bounds = this.stage.getBoundingClientRect();
    this.bounds = bounds;
    if (this.isFitted) this.fit();
    else this.changed();
  }

  // The stage without what a panel covers: `{x, y, width, height}`, relative to the stage.
  clearArea() {
    const area = { x: 0, y: 0, width: this.bounds.width, height: this.bounds.height };
    const panel = byId('panel');
    if (!panel || panel.hidden) return area;
    const covered = panel.getBoundingClientRect();
    const coversWidth = covered.width > this.bounds.width * 0.7;
    if (coversWidth) area.height = covered.top - this.bounds.top;
    else area.width = covered.left - this.bounds.left;
    return area;
  }

  fit() {
    const { width, height } = this.bounds;
    const scale = Math.min((width - MARGIN) / this.box.width, (height - MARGIN) / this.box.height, 1.5);
    this.setScale(scale);
    this.offset.x = width / 2 - this.scale * (this.box.x + this.box.width / 2);
    this.offset.y = height / 2 - this.scale * (this.box.y + this.box.height / 2);
    this.isFitted = true;
    this.changed();
  }

  setScale(scale) {
    const fitting = Math.min(this.bounds.width / this.box.width, this.bounds.height / this.box.height) / 2;
    this.scale = clamp(scale, Math.min(SCALE_LIMITS.smallest, fitting), SCALE_LIMITS.largest);
  }

  // Zooms so that a point of the stage stays where it is.
  zoom(factor, at = { x: this.bounds.width / 2, y: this.bounds.height / 2 }) {
    const before = this.scale;
    this.setScale(before * factor);
    const change = this.scale / before;
    this.offset.x = at.x - (at.x - this.offset.x) * change;
    this.offset.y = at.y - (at.y - this.offset.y) * change;
    this.moved();
  }

  pan(x, y) {
    this.offset.x += x;
    this.offset.y += y;
    this.moved();
  }

  moved() {
    cancelAnimationFrame(this.flight);
    this.isFitted = false;
    this.changed();
  }

  toGraph(point) {
    return { x: (point.x - this.offset.x) / this.scale, y: (point.y - this.offset.y) / this.scale };
  }

  toStage(event) {
    return { x: event.clientX - this.bounds.left, y: event.clientY - this.bounds.top };
  }

  // The part of the graph that is shown.
  shown() {
    const { x, y } = this.toGraph({ x: 0, y: 0 });
    return { x, y, width: this.bounds.width / this.scale, height: this.bounds.height / this.scale };
  }

  // Brings a point of the graph to the middle of the clear area.
  centerOn(point, scale = this.scale) {
    const area = this.clearArea();
    this.flyTo(scale, {
      x: area.x + area.width / 2 - scale * point.x,
      y: area.y + area.height / 2 - scale * point.y,
    });
  }

  // Moves only as far as needed to show a node.
  reveal(node) {
    const area = this.clearArea();
    const missing = (start, size, from, length) =>
      Math.max(0, from + MARGIN - start) - Math.max(0, start + Math.min(size, length - 2 * MARGIN) - (from + length - MARGIN));
    const x = missing(this.offset.x + this.scale * node.x, this.scale * node.width, area.x, area.width);
    const y = missing(this.offset.y + this.scale * node.y, this.scale * node.height, area.y, area.height);
    if (x || y) this.flyTo(this.scale, { x: this.offset.x + x, y: this.offset.y + y });
  }

  flyTo(scale, offset) {
    const start = { scale: this.scale, x: this.offset.x, y: this.offset.y };
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const begun = performance.now();
    const step = (now) => {
      const elapsed = isStill ? 1 : clamp((now - begun) / FLIGHT_MILLISECONDS, 0, 1);
      const part = 1 - (1 - elapsed) ** 3;
      this.scale = start.scale + (scale - start.scale) * part;
      this.offset.x = start.x + (offset.x - start.x) * part;
      this.offset.y = start.y + (offset.y - start.y) * part;
      this.changed();
      if (elapsed < 1) this.flight = requestAnimationFrame(step);
    };
    this.moved();
    step(begun);
  }

  changed() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const x = this.offset.x + this.scale * this.box.x;
    const y = this.offset.y + this.scale * this.box.y;
    this.picture.style.transform = `translate(${x}px, ${y}px) scale(${this.scale})`;
    this.picture.classList.toggle('is-distant', this.scale < PORT_SCALE);
    this.stage.classList.add('is-moving');
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.stage.classList.remove('is-moving'), REST_MILLISECONDS);
    for (const listener of this.listeners) listener();
  }
}

// ---- Selection

// What is selected and what has the focus; at most one node or edge each.
class Selection {
  constructor(network, camera) {
    this.network = network;
    this.camera = camera;
    this.selected = null;
    this.near = [];
    this.rings = { selected: new Ring('selected', camera), focused: new Ring('focused', camera) };
    this.panel = byId('panel') ? new Panel(byId('panel'), network, this) : null;
    this.prepareNodes();
  }

  prepareNodes() {
    for (const node of this.network.order) {
      const part = this.network.elements.get(node.id);
      const links = this.network.links.get(node.id).length;
      part.setAttribute('role', 'button');
      part.setAttribute('tabindex', '-1');
      part.setAttribute('aria-pressed', 'false');
      // The name begins with the text in the picture, which may be shortened, so that speech input finds what is seen.
      const seen = Array.from(part.querySelectorAll('text'), (text) => text.textContent).join(' ');
      const whole = seen.includes(node.label) ? '' : ` (${node.label.slice(0, 300)})`;
      const about = `${this.network.describe(node)}, ${plural(links, 'link')}`;
      part.setAttribute('aria-label', `${seen || 'Unnamed'}${whole}: ${about}`);
    }
    this.setTabStop(this.network.order[0]);
  }

  // One node is in the tab order; the other ones are reached from it.
  setTabStop(node) {
    if (!node) return;
    if (this.tabStop) this.network.elements.get(this.tabStop.id).setAttribute('tabindex', '-1');
    this.tabStop = node;
    this.network.elements.get(node.id).setAttribute('tabindex', '0');
  }

  focus(node) {
    const part = node && this.network.elements.get(node.id);
    if (!part) return;
    this.setTabStop(node);
    part.focus({ preventScroll: true });
  }

  // Called when a node receives the focus, however that came about.
  focused(node, isVisible) {
    this.setTabStop(node);
    this.rings.focused.surround(isVisible ? node : null);
    if (isVisible) this.camera.reveal(node);
  }

  blurred() {
    this.rings.focused.surround(null);
  }

  selectNode(node) {
    const links = this.network.links.get(node.id);
    const inside = this.network.children.get(node.id) ?? [];
    const nodes = [node, ...inside, ...links.map((link) => this.network.nodes.get(link.other)).filter(Boolean)];
    this.mark(node, nodes, links.map((link) => link.edge));
    this.network.elements.get(node.id)?.setAttribute('aria-pressed', 'true');
    this.rings.selected.surround(node);
    this.panel?.showNode(node);
    this.camera.reveal(node);
    announce(`${node.label || 'Unnamed'} selected, ${plural(links.length, 'link')}`);
  }

  selectEdge(edge) {
    const ends = [edge.source, edge.target].map((id) => this.network.nodes.get(id)).filter(Boolean);
    this.mark(edge, ends, [edge]);
    this.panel?.showEdge(edge);
    announce(`Link from ${this.network.label(edge.source)} to ${this.network.label(edge.target)} selected`);
  }

  mark(selected, nodes, edges) {
    this.unmark();
    const around = nodes.flatMap((node) => this.network.ancestors(node));
    const parts = [...nodes, ...around, ...edges].map((item) => this.network.elements.get(item.id)).filter(Boolean);
    const labels = edges.flatMap((edge) => this.network.labels.get(edge.id) ?? []);
    this.near = [...parts, ...labels];
    for (const part of this.near) part.classList.add('is-near');
    this.network.elements.get(selected.id)?.classList.add('is-selected');
    this.network.picture.classList.add('has-selection');
    this.selected = selected;
  }

  unmark() {
    for (const part of this.near) part.classList.remove('is-near');
    const part = this.selected && this.network.elements.get(this.selected.id);
    part?.classList.remove('is-selected');
    if (part?.hasAttribute('aria-pressed')) part.setAttribute('aria-pressed', 'false');
    this.network.picture.classList.remove('has-selection');
    this.rings.selected.surround(null);
    this.near = [];
    this.selected = null;
  }

  clear() {
    if (!this.selected) return;
    const hadFocus = this.panel?.hasFocus();
    this.unmark();
    this.panel?.hide();
    if (hadFocus) this.focus(this.tabStop);
    announce('Selection cleared');
  }

  toggle(node) {
    if (this.selected === node) this.clear();
    else this.selectNode(node);
  }
}

// A frame around a node. It lies over the picture, so that it is as thick at every scale.
class Ring {
  constructor(name, camera) {
    this.camera = camera;
    this.element = create('div', { className: `ring ${name}`, hidden: true });
    camera.stage.append(this.element);
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

// ---- The panel

class Panel {
  constructor(element, network, selection) {
    this.element = element;
    this.network = network;
    this.selection = selection;
  }

  showNode(node) {
    const parent = this.network.nodes.get(node.parent_id);
    const facts = [['Role', this.network.describe(node)]];
    if (node.detail) facts.push(['Address', nameText(node.detail)]);
    if (parent) facts.push(['Inside', this.nodeButton(parent.id)]);
    const links = this.network.links.get(node.id);
    const inside = this.network.children.get(node.id) ?? [];
    this.show(node.label || 'Unnamed', facts);
    this.addList(plural(links.length, 'link'), links, (link) => this.linkButton(link));
    this.addList(`${inside.length} inside`, inside, (child) => this.nodeButton(child.id));
  }

  showEdge(edge) {
    const end = (id, port) => {
      const parts = [this.nodeButton(id)];
      if (port?.name) parts.push(create('small', {}, 'Port ', nameText(port.name)));
      return create('div', {}, ...parts);
    };
    const facts = [
      ['From', end(edge.source, edge.source_port)],
      ['To', end(edge.target, edge.target_port)],
      ['Kind', EDGE_KINDS[edge.kind] ?? edge.kind],
      ['Speed', edge.speed_bps ? speed(edge.speed_bps) : 'unknown'],
      ['Confidence', CONFIDENCE[edge.confidence] ?? edge.confidence],
    ];
    this.show('Link', facts);
    const port = (side) => nameText(side?.name ?? 'unknown');
    this.addList(plural(edge.members.length, 'member'), edge.members, (member) =>
      create('span', {}, port(member.source_port), ' – ', port(member.target_port)));
    this.addList('Why this line is here', edge.evidence ?? [], (evidence) => this.evidence(evidence), 'evidence');
  }

  show(title, facts) {
    const close = button('Close', () => this.selection.clear());
    const list = create('dl', { className: 'facts' });
    for (const [name, value] of facts) list.append(create('dt', {}, name), create('dd', {}, value));
    const heading = create('div', { className: 'panel-bar' }, create('h2', { dir: 'auto' }, title), close);
    this.element.replaceChildren(heading, list);
    this.element.hidden = false;
    this.element.scrollTop = 0;
  }

  addList(title, items, toContent, className = '') {
    if (!items.length) return;
    const list = create('ul', { className });
    for (const item of items) list.append(create('li', {}, toContent(item)));
    this.element.append(create('h3', {}, title), list);
  }

  nodeButton(id) {
    const node = this.network.nodes.get(id);
    if (!node) return create('span', {}, 'Unknown');
    return button(nameText(node.label || 'Unnamed'), () => this.openNode(node), { className: 'link-button' });
  }

  linkButton({ edge, other, isSource }) {
    const [near, far] = isSource ? [edge.source_port, edge.target_port] : [edge.target_port, edge.source_port];
    const ports = [near, far].filter((port) => port?.name).flatMap((port) => [' – ', nameText(port.name)]).slice(1);
    const facts = [edge.speed_bps ? speed(edge.speed_bps) : null, edge.confidence].filter(Boolean).join(', ');
    const label = create('span', {}, nameText(this.network.label(other)), create('small', {}, ...ports), create('small', {}, facts));
    return button(label, () => this.openEdge(edge));
  }

  // The focus stays in the panel, so that its readers can go on from link to link.
  openNode(node) {
    this.selection.selectNode(node);
    this.selection.setTabStop(this.network.elements.has(node.id) ? node : null);
    this.element.focus();
  }

  openEdge(edge) {
    this.selection.selectEdge(edge);
    this.element.focus();
  }

  evidence(evidence) {
    const rule = RULES[evidence.rule] ?? words(evidence.rule);
    const facts = [];
    if (evidence.reporter_host_id) facts.push(['Reported by ', nameText(this.network.label(evidence.reporter_host_id))]);
    facts.push([`First seen ${time(evidence.first_seen)}`], [`Last seen ${time(evidence.last_seen)}`]);
    return create('div', {}, rule, ...facts.map((fact) => create('small', {}, ...fact)));
  }

  hasFocus() {
    return this.element.contains(document.activeElement);
  }

  hide() {
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}

// ---- Pointers and keys

// Drags with one pointer, pinches with two, zooms with the wheel, and selects with a click.
class PointerInput {
  constructor(network, camera, selection) {
    Object.assign(this, { network, camera, selection, pointers: new Map(), isDragging: false });
    const listen = (name, action) => camera.stage.addEventListener(name, action, { passive: false });
    listen('pointerdown', (event) => this.press(event));
    listen('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel']) listen(name, (event) => this.release(event));
    listen('click', (event) => this.click(event));
    listen('dblclick', (event) => this.isOnPicture(event) && camera.zoom(1.8, camera.toStage(event)));
    listen('wheel', (event) => this.wheel(event));
  }

  isOnPicture(event) {
    return event.target === this.camera.stage || this.camera.picture.contains(event.target);
  }

  press(event) {
    if (event.button !== 0 || !this.isOnPicture(event)) return;
    if (!this.pointers.size) Object.assign(this, { isDragging: false, start: event });
    this.pointers.set(event.pointerId, this.camera.toStage(event));
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const distance = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY);
    if (!this.isDragging && distance < DRAG_DISTANCE && this.pointers.size === 1) return;
    if (!this.isDragging) this.beginDrag(event);
    const after = this.camera.toStage(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (others.length) this.pinch(before, after, others[0][1]);
    else this.camera.pan(after.x - before.x, after.y - before.y);
    this.pointers.set(event.pointerId, after);
  }

  // A captured pointer no longer clicks what it pressed, so that it is captured only when it drags.
  beginDrag(event) {
    this.isDragging = true;
    this.camera.stage.setPointerCapture(event.pointerId);
    this.camera.stage.classList.add('is-dragged');
  }

  pinch(before, after, other) {
    const spread = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    const center = (point) => ({ x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    this.camera.pan(center(after).x - center(before).x, center(after).y - center(before).y);
    this.camera.zoom(spread(after) / spread(before), center(after));
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size) return;
    this.camera.stage.classList.remove('is-dragged');
    // Not at once: the click that ends a drag follows in the same task.
    setTimeout(() => { this.isDragging = false; });
  }

  click(event) {
    if (!this.isOnPicture(event) || this.isDragging) return;
    const target = this.target(event);
    if (!target) this.selection.clear();
    else if (this.network.nodes.has(target.id)) this.selection.toggle(target);
    else this.selection.selectEdge(target);
  }

  // Lines are thin: one that passes close by is meant, unless a node without children is hit.
  target(event) {
    const node = this.network.nodes.get(event.target.closest('.node, .container')?.dataset.id);
    if (node && !this.network.children.has(node.id)) return node;
    const edge = this.network.edges.get(event.target.closest('.edge')?.dataset.id);
    const point = this.camera.toGraph(this.camera.toStage(event));
    return edge ?? this.network.edgeNear(point, EDGE_REACH / this.camera.scale) ?? node;
  }

  wheel(event) {
    if (!this.isOnPicture(event)) return;
    event.preventDefault();
    const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
    // Browsers report the pinch of a touch pad as a wheel with the control key, in smaller steps.
    const strength = event.ctrlKey ? 0.01 : 0.0016;
    this.camera.zoom(Math.exp(-clamp(pixels, -300, 300) * strength), this.camera.toStage(event));
  }
}

class KeyInput {
  constructor(network, camera, selection) {
    Object.assign(this, { network, camera, selection });
    document.addEventListener('keydown', (event) => this.press(event));
    const node = (event) => network.nodes.get(event.target.closest('.node, .container')?.dataset.id);
    // Not on the picture itself: Chromium puts SVG elements that listen for the focus into the tab order.
    camera.stage.addEventListener('focusin', (event) => {
      if (node(event)) selection.focused(node(event), event.target.matches(':focus-visible'));
    });
    camera.stage.addEventListener('focusout', () => selection.blurred());
  }

  press(event) {
    const target = event.target;
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open], :popover-open')) return;
    if (event.key === 'Escape' && !target.closest('input')) return this.selection.clear();
    const isOnPicture = target === document.body || target === this.camera.stage || this.camera.picture.contains(target);
    if (!isOnPicture) return;
    const node = this.network.nodes.get(target.closest('.node, .container')?.dataset.id);
    if (this.act(event.key, event.shiftKey, node)) event.preventDefault();
  }

  // Returns whether the key means something here.
  act(key, isShifted, node) {
    const direction = DIRECTIONS[key];
    if (direction && (isShifted || !node)) this.camera.pan(-direction[0] * KEY_PAN, -direction[1] * KEY_PAN);
    else if (direction) this.selection.focus(this.network.neighborTowards(node, direction));
    else if (key === '+' || key === '=') this.zoom(KEY_ZOOM, node);
    else if (key === '-' || key === '_') this.zoom(1 / KEY_ZOOM, node);
    else if (key === '0') this.camera.fit();
    else if (key === '/') byId('search').focus();
    else return node ? this.actOnNode(key, node) : false;
    return true;
  }

  actOnNode(key, node) {
    const { order } = this.network;
    const position = order.indexOf(node);
    const steps = { PageUp: position - 1, PageDown: position + 1, Home: 0, End: order.length - 1 };
    if (key === 'Enter' || key === ' ') this.selection.toggle(node);
    else if (key in steps) this.selection.focus(order[steps[key]]);
    else return false;
    return true;
  }

  // A node that has the focus stays where it is.
  zoom(factor, node) {
    const { scale, offset } = this.camera;
    const center = node && middle(node);
    this.camera.zoom(factor, center && { x: offset.x + scale * center.x, y: offset.y + scale * center.y });
  }
}

// ---- Search

class Search {
  constructor(network, camera, selection) {
    Object.assign(this, { network, camera, selection, matches: [], active: 0 });
    this.input = byId('search');
    this.list = byId('matches');
    this.input.addEventListener('input', () => this.update());
    this.input.addEventListener('focus', () => this.update());
    this.input.addEventListener('blur', () => this.close());
    this.input.addEventListener('keydown', (event) => this.press(event));
    // The press would take the focus from the input before the click arrives.
    this.list.addEventListener('pointerdown', (event) => event.preventDefault());
    this.list.addEventListener('click', (event) => this.choose(Number(event.target.closest('li')?.dataset.place)));
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
    return [...found.beginning, ...found.containing].slice(0, MATCH_LIMIT);
  }

  show() {
    const isOpen = this.matches.length > 0;
    this.list.hidden = !isOpen;
    this.input.setAttribute('aria-expanded', String(isOpen));
    this.list.replaceChildren(...this.matches.map((node, place) => this.row(node, place)));
    if (isOpen) this.input.setAttribute('aria-activedescendant', `match-${this.active}`);
    else this.input.removeAttribute('aria-activedescendant');
  }

  row(node, place) {
    const row = create('li', { id: `match-${place}` }, create('span', { dir: 'auto' }, node.label),
      create('span', {}, this.network.describe(node)));
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(place === this.active));
    row.dataset.place = place;
    return row;
  }

  press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.matches.length) {
      this.active = (this.active + step + this.matches.length) % this.matches.length;
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
  selection.focus(node);
  camera.centerOn(middle(node), Math.max(camera.scale, 0.8));
}

// ---- The minimap

class Minimap {
  constructor(element, network, camera) {
    Object.assign(this, { element, camera });
    const { x, y, width, height } = camera.box;
    const scale = Math.min(MINIMAP_SIZE.width / width, MINIMAP_SIZE.height / height);
    element.setAttribute('viewBox', `${x} ${y} ${width} ${height}`);
    element.setAttribute('width', Math.max(width * scale, 24));
    element.setAttribute('height', Math.max(height * scale, 24));
    this.frame = createSvg('rect', { class: 'shown' });
    element.append(...this.drawing(network), this.frame);
    // SVG elements have no property `hidden`.
    element.removeAttribute('hidden');
    camera.listeners.push(() => this.place());
    for (const name of ['pointerdown', 'pointermove']) element.addEventListener(name, (event) => this.point(event));
  }

  // Three paths instead of thousands of elements.
  drawing(network) {
    const box = (node) => `M${node.x} ${node.y}h${node.width}v${node.height}h${-node.width}z`;
    const isContainer = (node) => network.children.has(node.id);
    const lines = network.graph.edges.map((edge) => edge.points.map(([x, y]) => `${x} ${y}`).join('L')).filter(Boolean);
    const areas = network.graph.nodes.filter(isContainer).map(box);
    const boxes = network.graph.nodes.filter((node) => !isContainer(node)).map(box);
    return [
      createSvg('path', { class: 'areas', d: areas.join('') }),
      createSvg('path', { class: 'lines', d: lines.map((line) => `M${line}`).join('') }),
      createSvg('path', { class: 'boxes', d: boxes.join('') }),
    ];
  }

  place() {
    const shown = this.camera.shown();
    for (const [name, value] of Object.entries(shown)) this.frame.setAttribute(name, value);
  }

  point(event) {
    if (!event.buttons) return;
    event.stopPropagation();
    const bounds = this.element.getBoundingClientRect();
    const { box, scale } = this.camera;
    const x = box.x + ((event.clientX - bounds.left) / bounds.width) * box.width;
    const y = box.y + ((event.clientY - bounds.top) / bounds.height) * box.height;
    const stage = this.camera.bounds;
    this.camera.offset = { x: stage.width / 2 - scale * x, y: stage.height / 2 - scale * y };
    this.camera.moved();
  }
}

// ---- Files

// The picture as the server made it, without what this script added.
function pictureFile(network) {
  const copy = network.picture.cloneNode(true);
  copy.removeAttribute('style');
  copy.setAttribute('role', 'img');
  copy.classList.remove('has-selection', 'is-distant');
  for (const part of copy.querySelectorAll('[data-id], [data-edge]')) {
    part.classList.remove('is-near', 'is-selected');
    for (const name of ['role', 'tabindex', 'aria-pressed', 'aria-label']) part.removeAttribute(name);
  }
  return copy;
}

function fileName(extension) {
  const title = document.title.replace(/[^\p{Letter}\p{Number}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 80);
  return `${title || 'network'}.${extension}`;
}

function save(blob, extension) {
  const address = URL.createObjectURL(blob);
  create('a', { href: address, download: fileName(extension) }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const svgBlob = (picture) => new Blob([new XMLSerializer().serializeToString(picture)], { type: 'image/svg+xml' });

async function pngBlob(picture, { width, height }) {
  const { side, pixels } = PNG_LIMITS;
  const scale = Math.min(PNG_LIMITS.scale, side / width, side / height, Math.sqrt(pixels / (width * height)));
  const size = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
  picture.setAttribute('width', size[0]);
  picture.setAttribute('height', size[1]);
  const address = URL.createObjectURL(svgBlob(picture));
  try {
    const image = create('img', { src: address });
    await image.decode();
    const canvas = create('canvas', { width: size[0], height: size[1] });
    const context = canvas.getContext('2d');
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, ...size);
    context.drawImage(image, 0, 0, ...size);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no image'))), 'image/png'));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function connectExport(network, camera) {
  byId('save-svg')?.addEventListener('click', () => save(svgBlob(pictureFile(network)), 'svg'));
  byId('save-png')?.addEventListener('click', async () => {
    try {
      save(await pngBlob(pictureFile(network), camera.box), 'png');
    } catch {
      announce('This browser could not draw the picture. Save it as SVG instead.', true);
    }
  });
}

// ---- Tables

// The network as two tables, for those who cannot use the picture. They are filled when they are opened first.
class Tables {
  constructor(network, camera, selection) {
    Object.assign(this, { network, camera, selection, isFilled: false });
    this.dialog = byId('tables');
    byId('open-tables').addEventListener('click', () => this.open());
    byId('close-tables').addEventListener('click', () => this.dialog.close());
  }

  open() {
    if (!this.isFilled) this.fill();
    this.dialog.showModal();
  }

  fill() {
    this.isFilled = true;
    const { nodes, edges } = this.network.graph;
    const nodeRows = this.table('Nodes', ['Name', 'Role', 'Inside', 'Links']);
    const edgeRows = this.table('Links', ['From', 'Port', 'To', 'Port', 'Speed', 'Confidence']);
    const rows = [
      ...nodes.map((node) => [nodeRows, () => this.nodeRow(node)]),
      ...edges.map((edge) => [edgeRows, () => this.edgeRow(edge)]),
    ];
    this.addRows(rows, 0);
  }

  // A few rows a frame, so that the page answers meanwhile.
  addRows(rows, start) {
    for (const [body, toRow] of rows.slice(start, start + ROWS_PER_FRAME)) body.append(toRow());
    if (start + ROWS_PER_FRAME < rows.length) requestAnimationFrame(() => this.addRows(rows, start + ROWS_PER_FRAME));
  }

  table(caption, columns) {
    const body = create('tbody');
    const head = create('tr', {}, ...columns.map((column) => create('th', { scope: 'col' }, column)));
    byId('tables-content').append(create('table', {}, create('caption', {}, caption), create('thead', {}, head), body));
    return body;
  }

  nodeRow(node) {
    const parent = this.network.nodes.get(node.parent_id);
    const cells = [this.network.describe(node), parent ? nameText(parent.label) : '', String(this.network.links.get(node.id).length)];
    return this.row(this.nodeButton(node.id), cells);
  }

  edgeRow(edge) {
    const port = (side) => (side?.name ? nameText(side.name) : '');
    const cells = [port(edge.source_port), this.nodeButton(edge.target), port(edge.target_port),
      edge.speed_bps ? speed(edge.speed_bps) : '', edge.confidence];
    return this.row(this.nodeButton(edge.source), cells);
  }

  row(first, cells) {
    return create('tr', {}, create('th', { scope: 'row' }, first), ...cells.map((cell) => create('td', {}, cell)));
  }

  nodeButton(id) {
    const node = this.network.nodes.get(id);
    if (!node) return 'Unknown';
    return button(nameText(node.label || 'Unnamed'), () => this.choose(node), { className: 'link-button' });
  }

  choose(node) {
    this.dialog.close();
    show(node, this.camera, this.selection);
  }
}

// ---- Start

function summarize(graph, picture) {
  const hidden = graph.hidden ?? {};
  const parts = [picture.querySelector('.subtitle')?.textContent ?? words(graph.view), plural(graph.nodes.length, 'node'), plural(graph.edges.length, 'link')];
  if (hidden.leaves) parts.push(`${plural(hidden.leaves, 'device')} drawn in groups`);
  if (hidden.stale) parts.push(`${plural(hidden.stale, 'stale device')} left out`);
  byId('summary').textContent = parts.join(' · ');
}

// Gives the stage and the picture the meaning for assistive technology that they have once they can be operated.
function describeStage(stage, picture) {
  picture.setAttribute('role', 'group');
  stage.setAttribute('tabindex', '0');
  stage.setAttribute('aria-label', 'Picture of the network');
  stage.setAttribute('aria-describedby', 'hint');
}

function connectZoom(camera) {
  if (!byId('zoom')) return;
  byId('zoom').hidden = false;
  byId('zoom-in').addEventListener('click', () => camera.zoom(KEY_ZOOM));
  byId('zoom-out').addEventListener('click', () => camera.zoom(1 / KEY_ZOOM));
  byId('zoom-fit').addEventListener('click', () => camera.fit());
}

function startViewer(graph, picture) {
  const stage = byId('stage');
  document.documentElement.classList.add('interactive');
  describeStage(stage, picture);
  const network = new Network(graph, picture);
  const camera = new Camera(stage, picture);
  camera.resize();
  const selection = new Selection(network, camera);
  new PointerInput(network, camera, selection);
  new KeyInput(network, camera, selection);
  new Search(network, camera, selection);
  new Tables(network, camera, selection);
  if (byId('minimap')) new Minimap(byId('minimap'), network, camera);
  connectZoom(camera);
  connectExport(network, camera);
  summarize(graph, picture);
  byId('tools').hidden = false;
}

// ---- The password

// An error whose message is meant for the reader.
class Problem extends Error {}

async function post(path, headers, body) {
  const signal = AbortSignal.timeout(REQUEST_MILLISECONDS);
  const response = await fetch(path, { method: 'POST', headers, body, signal, cache: 'no-store', credentials: 'omit' })
    .catch(() => {
      throw new Problem('The server cannot be reached. Check the connection, then try again.');
    });
  if (!response.ok) throw new Problem(explain(response));
  return (await response.json()).data;
}

function explain(response) {
  const seconds = Number(response.headers.get('Retry-After'));
  const later = seconds > 0 ? `in ${plural(seconds, 'second')}` : 'later';
  if (response.status === 401 || response.status === 403) return 'The password is wrong.';
  if (response.status === 404) return 'This page does not exist any more, or it is no longer shared.';
  if (response.status === 429) return `There were too many attempts. Try again ${later}.`;
  if (response.status === 503) return `The server is busy. Try again ${later}.`;
  return `The server could not answer (error ${response.status}). Try again later.`;
}

// Parsed as XML, the text of the picture cannot become markup of this page.
function parsePicture(text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  if (root.namespaceURI !== SVG_NAMESPACE || root.localName !== 'svg' || root.querySelector('parsererror')) {
    throw new Problem('The picture arrived damaged. Try again.');
  }
  return document.importNode(root, true);
}

// The token is kept in this function only: it is in no address, no cookie and no storage.
async function unlock(share, password) {
  const path = `../api/v1/shares/public/${encodeURIComponent(share)}`;
  const { token } = await post(`${path}/verify`, { 'Content-Type': 'application/json' }, JSON.stringify({ password }));
  const { topology } = await post(`${path}/topology`, { Authorization: `Bearer ${token}` });
  const picture = parsePicture(topology.svg);
  byId('stage').prepend(picture);
  byId('locked').remove();
  byId('viewer').hidden = false;
  startViewer(topology.graph, picture);
  byId('stage').focus();
}

function startForm(form) {
  const [password, submit, problem] = ['password', 'unlock', 'problem'].map(byId);
  form.hidden = false;
  password.focus();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    submit.disabled = true;
    try {
      await unlock(form.dataset.share, password.value);
    } catch (error) {
      problem.textContent = error instanceof Problem ? error.message : 'The page could not be opened. Try again.';
      password.select();
      password.focus();
    } finally {
      submit.disabled = false;
    }
  });
}

const form = byId('password-form');
if (form) startForm(form);
else startViewer(JSON.parse(byId('graph').textContent), document.querySelector('#stage > .topology'));
