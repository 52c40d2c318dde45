const NUDGE = 20;
const NUDGE_REST_MILLISECONDS = 700;

// Moves nodes: with the pointer, and with Alt and the arrow keys. A node that was moved is pinned.
class Mover {
  constructor(viewer, views, pins, history) {
    setFields(this, viewer, { viewer, views, pins, history, moved: null, timer: 0 });
    viewer.pointer.mover = this;
    viewer.keys.combinations = this;
    viewer.selection.panel.nodeActions.push((node) => (node.pinned && this.canPin() ? [button('Unpin', () => this.unpin(node))] : []));
  }

  // Pins are places in the picture of all devices of the present network, without areas.
  canPin() {
    const parameters = this.views.parameters();
    return this.network.graph.detail !== 'overview' && this.views.isNow() && !parameters.has('group_by') && !parameters.has('focus');
  }

  // The node to move: a card. A container fills the stage, where the picture is to be moved.
  nodeOf(event) {
    const node = this.network.nodes.get(event.target.closest?.('.nodes > .node, .highlight > .node')?.dataset.id);
    return node && this.canPin() && !this.network.children.has(node.id) ? node : null;
  }

  press(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === 'z' && !event.target.closest('input, textarea, select')) {
      this.history.undo();
      return true;
    }
    const direction = event.altKey && !event.ctrlKey && !event.metaKey && DIRECTIONS[event.key];
    const { cursor } = this.selection;
    if (!direction || !cursor.hasFocus() || !cursor.node || !this.canPin()) return false;
    this.drag(cursor.node, direction[0] * NUDGE, direction[1] * NUDGE);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.drop(), NUDGE_REST_MILLISECONDS);
    return true;
  }

  // A node that is moved takes its content along.
  drag(node, x, y) {
    if (this.moved?.node !== node) this.drop();
    this.moved ??= this.lift(node);
    for (const [part, elements] of this.moved.parts) {
      part.x += x;
      part.y += y;
      for (const element of elements) {
        // It may have been moved before, and not been drawn anew since.
        const before = shiftOf(element);
        element.setAttribute('transform', `translate(${before.x + x} ${before.y + y})`);
      }
    }
    this.drawLines();
    this.selection.cursor.rings[0].place();
    this.selection.ring.place();
  }

  lift(node) {
    const { network } = this;
    const parts = [];
    const add = (part) => {
      parts.push([part, network.drawn(part.id)]);
      for (const child of network.children.get(part.id) ?? []) add(child);
    };
    add(node);
    this.selection.clear();
    const links = parts.flatMap(([part]) => network.links.get(part.id).map(({ edge }) => edge));
    network.picture.querySelector('.lifted')?.remove();
    const lines = createSvg('g', { class: 'lifted' });
    network.picture.querySelector('.content').insertBefore(lines, network.picture.querySelector('.nodes'));
    for (const { id } of links) {
      for (const part of network.drawn(id)) part.classList.add('is-lifted');
    }
    return { node, parts, links: [...new Set(links)], lines };
  }

  // Until the server has routed the links anew, they are straight.
  drawLines() {
    const { lines, links } = this.moved;
    lines.replaceChildren(...links.map(({ source, target }) => {
      const [from, to] = [source, target].map((id) => this.network.nodes.get(id)).filter(Boolean).map(middle);
      return createSvg('path', { class: 'line', d: from && to ? `M${from.x} ${from.y}L${to.x} ${to.y}` : '' });
    }));
  }

  // Pins what was moved, if anything was.
  drop() {
    clearTimeout(this.timer);
    if (!this.moved) return null;
    const { node } = this.moved;
    this.moved = null;
    const { x, y } = this.network.shift;
    return this.pin(node, { x: Math.round(node.x - x), y: Math.round(node.y - y) }, `${node.label || 'Node'} moved`);
  }

  unpin(node) {
    return this.pin(node, null, `${node.label || 'Node'} unpinned`);
  }

  // What was not stored is shown where it was.
  async pin({ id }, position, label) {
    const { view } = this.network.graph;
    // It stays where it was dropped, whatever moves around it.
    this.viewer.anchor = id;
    const revert = async ({ before, after }) => {
      const reverted = await this.pins.set(view, id, before, after);
      await this.views.load();
      return reverted;
    };
    await attempt(async () => {
      const stored = await this.pins.set(view, id, position);
      this.history.add(label, () => revert(stored));
    });
    await this.views.load();
  }
}
