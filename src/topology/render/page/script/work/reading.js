// Answers of the server beyond the picture: why a link is there, what fails with a host, and what to scan next.
function connectReading(viewer, views) {
  const { network, selection, camera } = viewer;
  const { panel } = selection;
  const offer = (is, label, action) => (is && views.isNow() ? [button(label, () => attempt(action))] : []);
  panel.edgeActions.push((edge) => offer(!edge.bundled, 'Explain', () => explainEdge(edge)));
  panel.nodeActions.push((node) => offer(node.kind === 'Host', 'If it fails', () => fail(node)));

  // Marks what a failure cuts off, as far as it is drawn.
  async function fail({ id }) {
    const impact = await ask(`topology/impact?${ofNetwork({ node: id })}`);
    const { selected: node, other } = selection;
    if (node?.id !== id || other) return;
    const nodes = impact.cut_off.flatMap((host) => network.nodes.get(host.node_id ?? host.host_id) ?? []);
    selection.mark(node, [node, ...nodes], []);
    selection.ring.surround(node);
    if (!panel.element.querySelector('.cut')) panel.addList('Cut off', nodes, (host) => panel.nodeButton(host.id), 'cut');
    announce(`Cut off: ${impact.complete ? '' : 'at least '}${impact.cut_off_total}`, true);
  }

  async function explainEdge(edge) {
    const { rejected } = await ask(`topology/edges/${edge.id}?${ofNetwork({ view: views.view })}`);
    if (selection.selected?.id !== edge.id) return;
    panel.element.querySelector('.rejected')?.remove();
    const section = create('section', { className: 'rejected' });
    section.append(create('h3', {}, rejected.length ? 'Claims that this link overrides' : 'No claim contradicts this link'));
    const rows = rejected.map(({ evidence, names, beaten_by: rule }) => create('li', {}, panel.evidence(evidence),
      create('small', {}, 'Names ', nameText(names)), create('small', {}, `Overridden by: ${RULES[rule] ?? words(rule)}`)));
    if (rows.length) section.append(create('ul', { className: 'evidence' }, ...rows));
    panel.element.append(section);
    announce(section.firstChild.textContent);
    section.scrollIntoView({ block: 'nearest' });
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
