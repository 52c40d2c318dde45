class Panel {
  constructor(element, network, selection) {
    this.element = element;
    this.network = network;
    this.selection = selection;
    // Functions that add what readers may do with a node or an edge: `(node, panel) => elements`.
    this.nodeActions = [];
    this.edgeActions = [];
  }

  addActions(actions, item) {
    const parts = actions.flatMap((action) => action(item, this));
    if (parts.length) this.element.append(create('div', { className: 'actions' }, ...parts));
  }

  showNode(node) {
    const parent = this.network.nodes.get(node.parent_id);
    const facts = [['Role', this.network.describe(node)]];
    const roles = (part) => part.folded.map(({ role, count }) => `${count} × ${words(role)}`).join(', ');
    if (node.folded?.length) facts.push(['Devices', roles(node)]);
    for (const part of node.parts ?? []) facts.push([part.vlan ? `VLAN ${part.vlan}` : part.ports ?? 'Others', roles(part)]);
    if (node.detail && !node.collapsed) facts.push(['Address', nameText(node.detail)]);
    for (const [name, value] of [['Vendor', node.vendor], ['Model', node.model], ['Location', node.location]]) if (value) facts.push([name, nameText(value)]);
    if (node.vlan) facts.push(['VLAN', node.vlan]);
    if (parent) facts.push(['Inside', this.nodeButton(parent.id)]);
    const links = this.network.links.get(node.id);
    const inside = this.network.children.get(node.id) ?? [];
    this.show(node.label || 'Unnamed', facts);
    this.addActions(this.nodeActions, node);
    this.addList(plural(links.length, 'link'), links, (link) => this.linkButton(link));
    this.addList(`${inside.length} inside`, inside, (child) => this.nodeButton(child.id));
  }

  showEdge(edge) {
    const end = (id, ports) => {
      const parts = [this.nodeButton(id)];
      if (ports) parts.push(create('small', {}, 'Port ', nameText(ports)));
      return create('div', {}, ...parts);
    };
    const facts = [
      ['From', end(edge.source, portsOf(edge, 'source_port'))],
      ['To', end(edge.target, portsOf(edge, 'target_port'))],
      ['Kind', edge.bundled ? plural(edge.bundled, 'link') : EDGE_KINDS[edge.kind] ?? edge.kind],
      ['Speed', edge.speed_bps ? speed(edge.speed_bps) : 'unknown'],
      ['Confidence', CONFIDENCE[edge.confidence] ?? edge.confidence],
    ];
    if (this.network.hasStates) facts.push(['State', stateOf(edge)]);
    if (edge.vlans) facts.push(['VLANs', vlansOf(edge)]);
    const { members } = edge;
    const blocked = members.filter((member) => member.blocked).length;
    if (edge.blocked || blocked) facts.push(['Spanning tree', edge.blocked ? 'Blocked' : `${blocked} of ${members.length} blocked`]);
    if (edge.stale) facts.push(['Reports', 'Not seen recently']);
    this.show('Link', facts);
    this.addActions(this.edgeActions, edge);
    const port = (side) => nameText(side?.name ?? 'unknown');
    this.addList(plural(members.length, edge.lag ? 'member' : 'parallel link'), members, (member) =>
      create('span', {}, port(member.source_port), ' – ', port(member.target_port),
        [' ', problem(member.state), member.blocked && 'blocked'].filter(Boolean).join(', ')));
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

  // A node that is not drawn has a name only.
  nodeButton(id, name = 'Unknown') {
    const node = this.network.nodes.get(id);
    if (!node) return create('span', {}, nameText(name));
    return button(nameText(node.label || 'Unnamed'), () => this.openNode(node), { className: 'link-button' });
  }

  linkButton({ edge, other, isSource }) {
    const sides = isSource ? ['source_port', 'target_port'] : ['target_port', 'source_port'];
    const ports = sides.map((side) => portsOf(edge, side)).filter(Boolean).flatMap((names) => [' – ', nameText(names)]).slice(1);
    const stale = edge.stale ? 'not seen recently' : null;
    const facts = [edge.speed_bps ? speed(edge.speed_bps) : null, edge.confidence, problem(edge.state), stale].filter(Boolean).join(', ');
    const label = create('span', {}, nameText(this.network.label(other)), create('small', {}, ...ports), create('small', {}, facts));
    return button(label, () => this.openEdge(edge));
  }

  // The focus stays in the panel, so that its readers can go on from link to link.
  openNode(node) {
    this.selection.selectNode(node);
    this.selection.cursor.moveTo(node);
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
    if (evidence.missing_since) facts.push([`Missing since ${time(evidence.missing_since)}`]);
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
