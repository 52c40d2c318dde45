// The shortest path between two nodes, over what is drawn: links, and from a container to what is in it.
class Paths {
  constructor(network, selection) {
    setFields(this, { network, selection, from: null });
    selection.panel.nodeActions.push((node) => [
      button('Path to another node', () => {
        this.from = node;
        announce(`Choose the other end of the path from ${node.label || 'Unnamed'}`, true);
      }),
    ]);
  }

  // Takes a node as the other end, if one was asked for.
  choose(node) {
    const from = this.network.nodes.get(this.from?.id);
    this.end();
    if (!from || from === node) return false;
    this.select(from, node);
    return true;
  }

  end() {
    this.from = null;
  }

  // Selects the path from what is selected to another node.
  extend(node) {
    const { selected } = this.selection;
    if (selected === node || !this.network.nodes.has(selected?.id) || !this.network.nodes.has(node.id)) return false;
    this.select(selected, node);
    return true;
  }

  select(from, to) {
    const { selection } = this;
    const steps = this.find(from, to);
    const nodes = [from, to, ...(steps ?? []).map(({ node }) => node)];
    selection.mark(from, nodes, (steps ?? []).map(({ edge }) => edge).filter(Boolean));
    selection.other = to;
    selection.ring.surround(from);
    this.describe(from, to, steps);
    selection.changed();
    if (selection.isQuiet) return;
    announce(`Path from ${from.label} to ${to.label}: ${steps ? plural(steps.length, 'step') : 'none in this picture'}`);
    const corners = nodes.flatMap(({ x, y, width, height }) => [[x, y], [x + width, y + height]]);
    selection.camera.showBox(boxAround(corners));
  }

  describe(from, to, steps) {
    const { panel } = this.selection;
    panel.show('Path', [['From', panel.nodeButton(from.id)], ['To', panel.nodeButton(to.id)]]);
    const text = steps ? plural(steps.length, 'step') : 'No path in this picture';
    if (steps) panel.addList(text, steps, (step) => this.row(step));
    else panel.element.append(create('p', {}, `${text}. Folded and hidden links are not looked at.`));
  }

  row({ from, node, edge }) {
    const { panel } = this.selection;
    if (edge) return panel.linkButton({ edge, other: node.id, isSource: edge.source === from.id });
    return create('span', {}, 'Inside: ', panel.nodeButton(node.id));
  }

  // The steps from one node to the other, or `null`. Each node is visited once.
  find(from, to) {
    const reached = new Map([[from.id, null]]);
    let border = [from];
    while (border.length && !reached.has(to.id)) {
      const next = [];
      for (const node of border) {
        for (const step of this.stepsFrom(node)) {
          if (reached.has(step.node.id)) continue;
          reached.set(step.node.id, { from: node, ...step });
          next.push(step.node);
        }
      }
      border = next;
    }
    if (!reached.has(to.id)) return null;
    const steps = [];
    for (let step = reached.get(to.id); step; step = reached.get(step.from.id)) steps.unshift(step);
    return steps;
  }

  stepsFrom(node) {
    const { network } = this;
    const steps = network.links.get(node.id).map(({ edge, other }) => ({ edge, node: network.nodes.get(other) }));
    const inside = [network.nodes.get(node.parent_id), ...(network.children.get(node.id) ?? [])];
    steps.push(...inside.map((other) => ({ edge: null, node: other })));
    return steps.filter((step) => step.node && !network.hiddenNodes.has(step.node.id));
  }
}
