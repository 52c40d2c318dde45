// Folds in the page itself: the leaves of a device, or the content of a container, are hidden and counted.
class LocalFolds {
  constructor(network, selection) {
    setFields(this, { network, selection, closed: new Set() });
    network.hiders.push((node) => this.isFolded(node));
    network.listeners.push(() => this.draw());
    selection.panel?.nodeActions.push((node) => this.actions(node));
  }

  // What a node is folded into: the container around it, or the only device that it is linked to.
  anchor(node) {
    if (node.parent_id) return node.parent_id;
    const links = this.network.links.get(node.id);
    return links.length === 1 && !this.network.children.has(node.id) ? links[0].other : null;
  }

  // What is in a container that is in a closed one is folded, too.
  isFolded(node) {
    return node !== undefined && (this.closed.has(this.anchor(node)) || this.isFolded(this.network.nodes.get(node.parent_id)));
  }

  leaves(node) {
    const near = [...(this.network.children.get(node.id) ?? []), ...this.network.links.get(node.id).map(({ other }) => this.network.nodes.get(other))];
    return new Set(near.filter((other) => other && this.anchor(other) === node.id));
  }

  // A closed fold opens where it is clicked.
  open(node) {
    if (this.closed.has(node.id)) this.toggle(node);
    return false;
  }

  toggle(node) {
    const { size } = this.leaves(node);
    if (!size) return announce('Nothing to fold here');
    const isClosed = this.closed.delete(node.id);
    if (!isClosed) this.closed.add(node.id);
    this.draw();
    if (this.selection.selected === node) this.selection.selectNode(node);
    announce(`${plural(size, 'node')} ${isClosed ? 'unfolded' : 'folded'}`);
  }

  actions(node) {
    const { size } = this.leaves(node);
    if (!size) return [];
    const label = `${this.closed.has(node.id) ? 'Unfold' : 'Fold'} ${plural(size, 'node')}`;
    return [button(label, () => this.toggle(node))];
  }

  draw() {
    if (!this.closed.size && !this.network.hiddenNodes.size) return;
    this.network.updateHidden();
    const { picture, nodes } = this.network;
    picture.querySelector('.folds')?.remove();
    const counts = createSvg('g', { class: 'folds' });
    for (const id of this.closed) {
      const node = nodes.get(id);
      if (!node) continue;
      const count = createSvg('text', { class: 'heading', x: node.x + node.width + 4, y: node.y + node.height / 2 + 4 });
      count.append(`+${this.leaves(node).size}`);
      counts.append(count);
    }
    picture.querySelector('.content').append(counts);
  }
}
