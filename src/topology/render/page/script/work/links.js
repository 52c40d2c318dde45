// One end of a link: a host that is searched for in the inventory, and one of its ports.
class EndPicker {
  constructor(name) {
    [this.search, this.host, this.port] = ['search', 'host', 'port'].map((part) => byId(`${name}-${part}`));
    listen(this.search, 'input', () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => attempt(() => this.find()), SEARCH_MILLISECONDS);
    });
    listen(this.host, 'change', () => attempt(() => this.loadPorts()));
  }

  // Begins with a host, or with the first ones by name.
  async begin(node) {
    this.search.value = '';
    if (!node) return this.find();
    this.setHosts([[node.entity_id, node.label]]);
    this.host.selectedIndex = 0;
    return this.loadPorts();
  }

  async find() {
    const query = this.search.value.trim();
    const fields = { limit: FOUND_LIMIT, fields: 'id,name', order_by: 'name_natural', ...(query && { search: query }) };
    const hosts = await ask(`hosts?${ofNetwork(fields)}`);
    if (query !== this.search.value.trim()) return;
    this.setHosts(hosts.map(({ id, name }) => [id, name]));
    if (hosts.length === 1) this.host.selectedIndex = 0;
    await this.loadPorts();
  }

  setHosts(hosts) {
    this.host.replaceChildren(...hosts.map(([value, name]) => create('option', { value }, name || 'Unnamed')));
    if (!hosts.length) this.host.append(create('option', { disabled: true }, 'No host found'));
  }

  async loadPorts() {
    const any = create('option', { value: '' }, 'Any port');
    const id = this.host.value;
    this.port.replaceChildren(any);
    if (!id) return;
    const entries = await ask(`if-entries?host_id=${id}&limit=0`);
    if (id !== this.host.value) return;
    const ports = entries.map((entry) => [entry.id, entry.if_name || entry.if_descr || `Port ${entry.if_index}`]);
    ports.sort(byText(([, name]) => name));
    this.port.replaceChildren(any, ...ports.map(([value, name]) => create('option', { value }, name)));
  }

  end() {
    return { host_id: this.host.value, if_entry_id: this.port.value || null };
  }

  label() {
    return this.host.selectedOptions[0]?.textContent ?? '';
  }
}

// Links that users enter, and those that they hide.
class ManualLinks {
  constructor(viewer, views, history) {
    setFields(this, viewer, { views, history });
    this.ends = [new EndPicker('link-from'), new EndPicker('link-to')];
    this.problem = byId('link-problem');
    this.dialog = byId('add-link');
    onClick('close-add-link', () => this.dialog.close());
    listen(byId('link-form'), 'submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    onClick('new-link', () => this.open(null));
    connectDialog('links', () => this.list());
    const isHost = (node) => views.isNow() && node?.kind === 'Host' && node.entity_id;
    const { panel } = viewer.selection;
    panel.nodeActions.push((node) => (isHost(node) ? [button('Add a link …', () => this.open(node))] : []));
    panel.edgeActions.push((edge) => {
      const ends = [edge.source, edge.target].map((id) => this.network.nodes.get(id));
      // Others follow from addresses or from what runs where, or a user has entered them: the list deletes these.
      if (!ends.every(isHost) || !['Physical', 'Adjacency', 'Bridged'].includes(edge.kind)
        || edge.evidence?.some(({ rule }) => rule === 'manual')) return [];
      return [button('Hide this link', () => this.suppress(edge, ends))];
    });
  }

  open(node) {
    byId('links').close();
    this.problem.textContent = '';
    this.dialog.showModal();
    this.ends[1].search.focus();
    return attempt(() => Promise.all([this.ends[0].begin(node), this.ends[1].begin(null)]));
  }

  async submit() {
    const [source, target] = this.ends.map((end) => end.end());
    if (!source.host_id || !target.host_id) return this.refuse('Choose a host at each end.');
    if (source.host_id === target.host_id) return this.refuse('A link joins two different hosts.');
    const label = `Link from ${this.ends[0].label()} to ${this.ends[1].label()} added`;
    // Enter in a list submits as well: one link is added, however often it is pressed.
    if (this.isSubmitting) return null;
    this.isSubmitting = true;
    try {
      await this.enter({ source, target }, label);
      this.dialog.close();
    } catch (error) {
      this.refuse(error.message);
    } finally {
      this.isSubmitting = false;
    }
    return this.views.load();
  }

  refuse(sentence) {
    this.problem.textContent = sentence;
  }

  suppress(edge, nodes) {
    const end = (node, port) => ({ host_id: node.entity_id, if_entry_id: port?.if_entry_id ?? null });
    const [source, target] = [end(nodes[0], edge.source_port), end(nodes[1], edge.target_port)];
    return attempt(async () => {
      await this.enter({ source, target, suppressed: true }, `Link from ${nodes[0].label} to ${nodes[1].label} hidden`);
      await this.views.load();
    });
  }

  async enter(link, label) {
    const { id } = await ask('topology/links', { method: 'POST', body: { network_id: viewerData.networkId, ...link } });
    this.history.add(label, () => this.remove(id));
  }

  async remove(id) {
    await ask(`topology/links/${id}`, { method: 'DELETE' });
    await this.views.load();
  }

  async list() {
    const content = byId('links-content');
    content.replaceChildren('Loading …');
    const links = await ask(`topology/links?${ofNetwork({ limit: 0 })}`);
    const names = await this.hostNames(links);
    const rows = links.map((link) => this.row(link, names));
    content.replaceChildren(rows.length ? create('ul', { className: 'evidence' }, ...rows) : 'No link was entered or hidden.');
  }

  async hostNames(links) {
    const ids = [...new Set(links.flatMap(({ source, target }) => [source.host_id, target.host_id]))];
    const names = new Map();
    for (let start = 0; start < ids.length; start += FOUND_LIMIT) {
      const part = ids.slice(start, start + FOUND_LIMIT);
      const hosts = await ask(`hosts?${ofNetwork({ ids: part.join(','), fields: 'id,name', limit: part.length })}`);
      for (const { id, name } of hosts) names.set(id, name);
    }
    return names;
  }

  row(link, names) {
    const name = ({ host_id: id }) => nameText(names.get(id) ?? 'Unknown host');
    const kind = link.suppressed ? 'Hidden' : 'Added';
    const take = button(link.suppressed ? 'Show again' : 'Delete', () => attempt(async () => {
      await this.remove(link.id);
      await this.list();
    }));
    return create('li', { className: 'entry' }, create('span', {}, name(link.source), ' – ', name(link.target),
      create('small', {}, `${kind} ${time(link.created_at)}`)), take);
  }
}
