// The graph with its elements in the picture: what is linked to what, and where it is.
class Network {
  constructor(readGraph, picture) {
    // Called when the picture is another one. Hiders decide what filters and folds hide.
    setFields(this, { listeners: [], hiders: [] });
    this.load(readGraph, picture);
  }

  replace(readGraph, picture) {
    this.picture.replaceWith(picture);
    this.load(readGraph, picture);
    notify(this.listeners);
  }

  load(readGraph, picture) {
    setFields(this, { picture, hiddenNodes: new Set() });
    addLazy(this, {
      shift: () => shiftOf(picture.querySelector('.content')),
      graph: () => move(readGraph(), this.shift),
      nodes: () => new Map(this.graph.nodes.map((node) => [node.id, node])),
      edges: () => new Map(this.graph.edges.map((edge) => [edge.id, edge])),
      links: () => linksByNode(this.graph),
      children: () => grouped(this.graph.nodes, (node) => node.parent_id),
      elements: () => new Map(Array.from(picture.querySelectorAll('[data-id]'), (part) => [part.dataset.id, part])),
      // The names and speeds of edges, and the titles of containers that are not drawn with these.
      labels: () => grouped(picture.querySelectorAll('[data-edge], [data-node]'), ({ dataset }) => dataset.node ?? dataset.edge),
      hasStates: () => this.graph.edges.some((edge) => (edge.state ?? 'Unknown') !== 'Unknown'),
    });
    this.addOrder();
  }

  addOrder() {
    addLazy(this, { order: () => readingOrder(this.graph.nodes.filter((node) => this.shows(node))) });
  }

  // Whether a node, or a link with both ends, is not hidden.
  shows({ id, source, target }) {
    return ![id, source, target].some((node) => this.hiddenNodes.has(node));
  }

  // Hides nodes and links by all hiders.
  updateHidden() {
    const { nodes, edges } = this.graph;
    const hidden = nodes.filter((node) => this.hiders.some((hides) => hides(node)));
    if (!hidden.length && !this.hiddenNodes.size) return;
    this.hiddenNodes = new Set(hidden.map((node) => node.id));
    for (const part of this.picture.querySelectorAll('.is-hidden')) part.classList.remove('is-hidden');
    for (const item of [...hidden, ...edges.filter((edge) => !this.shows(edge))]) {
      for (const part of this.drawn(item.id)) part.classList.add('is-hidden');
    }
    this.addOrder();
  }

  // All parts of the picture that show a node or an edge.
  drawn(id) {
    return [this.elements.get(id) ?? [], this.labels.get(id) ?? []].flat();
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
    if (problem(node.state)) parts.push(problem(node.state).toLowerCase());
    if (node.implied) parts.push('implied by addresses and masks');
    if (node.stale) parts.push('not seen recently');
    return parts.join(', ');
  }

  // The linked node that lies in a direction, or else the nearest node there.
  neighborTowards(node, direction) {
    const linked = this.links.get(node.id).map((link) => this.nodes.get(link.other)).filter((other) => other && this.shows(other));
    return nearestTowards(node, linked, direction) ?? nearestTowards(node, this.order, direction);
  }

  // The edge whose line is shown and passes closest to a point, within a distance.
  edgeNear(point, reach) {
    let nearest = null;
    let best = reach;
    for (const edge of this.graph.edges.filter((edge) => this.shows(edge))) {
      const distance = distanceToLine(point, edge.points);
      if (distance < best) [nearest, best] = [edge, distance];
    }
    return nearest;
  }
}

// How far a part of the picture is moved: the picture may center the graph.
function shiftOf(part) {
  const matrix = part?.transform.baseVal.consolidate()?.matrix;
  return { x: matrix?.e ?? 0, y: matrix?.f ?? 0 };
}

// Gives nodes and lines the coordinates of the picture.
function move(graph, { x: right, y: down }) {
  for (const node of graph.nodes) {
    node.x += right;
    node.y += down;
  }
  for (const edge of graph.edges) edge.points = edge.points.map(([x, y]) => [x + right, y + down]);
  return graph;
}

function linksByNode(graph) {
  const links = new Map(graph.nodes.map((node) => [node.id, []]));
  for (const edge of graph.edges) {
    links.get(edge.source)?.push({ edge, other: edge.target, isSource: true });
    if (edge.target !== edge.source) links.get(edge.target)?.push({ edge, other: edge.source, isSource: false });
  }
  return links;
}

function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

const middle = (node) => ({ x: node.x + node.width / 2, y: node.y + node.height / 2 });

// By rows from top to bottom, and within a row from left to right.
function readingOrder(nodes) {
  return nodes.toSorted((one, other) => one.y - other.y || one.x - other.x);
}

function nearestTowards(node, candidates, [directionX, directionY]) {
  const from = middle(node);
  let nearest = null;
  let best = Infinity;
  for (const candidate of candidates) {
    if (candidate === node) continue;
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

function boxAround(points) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
