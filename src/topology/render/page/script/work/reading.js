// Answers of the server beyond the picture: why a link is there, what fails with a host, and what to scan next.
function connectReading(viewer, views) {
  const { network, selection, camera } = viewer;
  const { panel } = selection;
  const offer = (is, label, action) => (is && views.isNow() ? [button(label, () => attempt(action))] : []);
  panel.edgeActions.push((edge) => offer(!edge.bundled, 'Explain', () => explainEdge(edge)));
  panel.nodeActions.push((node) => offer(node.kind === 'Host', 'If it fails', () => fail(node)));

  // Lists what a failure cuts off, and marks it, as far as it is drawn.
  async function fail({ id }) {
    const { cut_off: hosts, cut_off_total: total, complete } = await ask(`topology/impact?${ofNetwork({ node: id })}`);
    const { selected: node, other } = selection;
    if (node?.id !== id || other) return;
    const nodes = [node, ...hosts.map((host) => network.nodes.get(idOf(host))).filter(Boolean)];
    // Folded devices have no other link than that to their device.
    const groups = nodes.flatMap((node) => network.links.get(node.id)).map((link) => network.nodes.get(link.other));
    selection.mark(node, [...nodes, ...groups.filter((group) => group?.kind === 'Group')], []);
    selection.ring.surround(node);
    const text = `Cut off: ${complete ? '' : 'at least '}${number(total)}`;
    const listed = hosts.length < total ? `, the first ${number(hosts.length)} are listed` : '';
    addSection('cut', text + listed, hosts.sort(byText((host) => host.name)).map((host) => panel.nodeButton(idOf(host), host.name)));
    announce(text, true);
  }

  // Adds a part to the panel, in place of a former one.
  function addSection(name, title, rows) {
    panel.element.querySelector(`.${name}`)?.remove();
    const list = create('ul', { className: 'evidence' }, ...rows.map((row) => create('li', {}, row)));
    const section = create('section', { className: name }, create('h3', {}, title), list);
    panel.element.append(section);
    section.scrollIntoView({ block: 'nearest' });
  }

  async function explainEdge(edge) {
    const { rejected } = await ask(`topology/edges/${edge.id}?${ofNetwork({ view: views.view })}`);
    if (selection.selected?.id !== edge.id) return;
    const title = rejected.length ? 'Claims that this link overrides' : 'No claim contradicts this link';
    addSection('rejected', title, rejected.map(({ evidence, names, beaten_by: rule }) => create('div', {}, panel.evidence(evidence),
      create('small', {}, 'Names ', nameText(names)), create('small', {}, `Overridden by: ${RULES[rule] ?? words(rule)}`))));
    announce(title);
  }

  const dialog = connectDialog('blind-spots', async () => {
    const content = byId('blind-spots-content');
    content.replaceChildren('Loading …');
    const spots = await ask(`topology/blind-spots?${ofNetwork()}`);
    const rows = spots.map((spot) => create('li', {}, ...blindSpot(spot)));
    content.replaceChildren(spots.length ? create('ul', { className: 'evidence' }, ...rows) : 'Nothing is missing.');
  });

  function blindSpot({ label, node_id: id, reason, port, addresses, count }) {
    const name = nameText(label || 'Unnamed');
    const node = network.nodes.get(id);
    const open = () => {
      dialog.close();
      show(node, camera, selection);
    };
    const facts = [port && `Port ${port.name}`, addresses.slice(0, 4).join(', '), `${number(count)} affected`];
    return [
      node ? button(name, open, { className: 'link-button' }) : name,
      create('small', {}, BLIND_SPOTS[reason] ?? words(reason)),
      create('small', {}, facts.filter(Boolean).join(' · ')),
    ];
  }
}
