const DEVICES = ['Host', 'Stub', 'Segment'];

// The path of packets between two devices. The server finds it over all links that work, also those that are not drawn.
class Paths {
  constructor({ network, selection }, views) {
    setFields(this, { network, selection, views, from: null });
    selection.panel.nodeActions.push((node) => (this.leadsTo(node) ? [
      button('Path to another node', () => {
        this.from = node;
        announce(`Choose the other end of the path from ${node.label || 'Unnamed'}`, true);
      }),
    ] : []));
  }

  // Parts of the network and folded devices are no ends, and the past has no paths.
  leadsTo({ kind }) {
    return this.views.isNow() && DEVICES.includes(kind);
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
    this.end();
    this.select(selected, node);
    return true;
  }

  select(from, to) {
    const { selection } = this;
    if (![from, to].every((node) => this.leadsTo(node))) {
      selection.selectNode(from);
      return announce('Paths lead from device to device, as the network is now.', true);
    }
    const { isQuiet } = selection;
    this.mark(from, to, []);
    // A path that is shown stays until its answer is renewed.
    if (!isQuiet) this.showEnds(from, to);
    selection.changed();
    return attempt(() => this.find(from, to, isQuiet));
  }

  showEnds(from, to) {
    const { panel } = this.selection;
    panel.show('Path', [['From', panel.nodeButton(from.id)], ['To', panel.nodeButton(to.id)]]);
  }

  // Marks the hops that are drawn, and returns their nodes.
  mark(from, to, hops) {
    const { network, selection } = this;
    const nodes = [from, to, ...hops.map((hop) => network.nodes.get(idOf(hop))).filter(Boolean)];
    selection.mark(from, nodes, hops.map((hop) => network.edges.get(hop.link_id)).filter(Boolean));
    selection.other = to;
    selection.ring.surround(from);
    return nodes;
  }

  async find(from, to, isQuiet) {
    const { selection } = this;
    const answer = await ask(`topology/path?${ofNetwork({ from: from.id, to: to.id, k: 1 })}`);
    // Something else may be selected meanwhile.
    if (selection.ids().join() !== `${from.id},${to.id}`) return;
    const [path] = answer.paths;
    const nodes = this.mark(selection.selected, selection.other, path?.hops ?? []);
    const text = path ? plural(path.length, 'link') : 'No path is known';
    const { element } = selection.panel;
    const { scrollTop } = element;
    this.showEnds(from, to);
    this.describe(text, answer);
    if (isQuiet) {
      element.scrollTop = scrollTop;
      return;
    }
    announce(`Path from ${from.label} to ${to.label}: ${text}`);
    selection.camera.showBox(boxAround(nodes.flatMap(({ x, y, width, height }) => [[x, y], [x + width, y + height]])));
  }

  describe(text, { paths: [path], complete, unknown, more, not_used: unused }) {
    const { panel } = this.selection;
    const notes = [
      !complete && `Not known: ${unknown.map(words).join(', ')}`,
      more && 'There are other paths.',
    ];
    for (const note of [!path && text, ...notes]) if (note) panel.element.append(create('p', {}, note));
    panel.addList(text, path?.hops ?? [], (hop) => this.row(hop), 'hops');
    panel.addList('Links that are not used', unused, (link) => this.unusedRow(link), 'unused');
  }

  row({ name, in_port: inwards, out_port: outwards, vlan, layer, gateway, confidence, unknown, ...hop }) {
    if (unknown) return `${name}: the path is not known from here on (${words(unknown)})`;
    const facts = [layer === 'L3' && `routes${gateway ? ` as ${gateway}` : ''}`, vlan && `VLAN ${vlan}`, confidence];
    const ports = [inwards, outwards].filter(Boolean).map((port) => port.name).join(' → ');
    const lines = [ports, facts.filter(Boolean).join(', ')].filter(Boolean).map((line) => create('small', {}, nameText(line)));
    return create('span', {}, this.selection.panel.nodeButton(idOf(hop), name), ...lines);
  }

  unusedRow({ link_id: id, source, target, reason, vlan }) {
    const { network, selection: { panel } } = this;
    const [edge, name] = [network.edges.get(id), `${network.label(source)} – ${network.label(target)}`];
    const row = edge ? button(nameText(name), () => panel.openEdge(edge), { className: 'link-button' }) : nameText(name);
    return create('span', {}, row, create('small', {}, vlan ? `lacks VLAN ${vlan}` : words(reason)));
  }
}

// The id of a device in an answer.
const idOf = ({ host_id: host, node_id: node }) => node ?? host;
