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
    const ports = entries.map((entry) => [entry.id, portName(entry)]);
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

const portName = (entry) => entry.if_name || entry.if_descr || `Port ${entry.if_index}`;

// Links that users enter, and those that they hide.
class ManualLinks {
  constructor(viewer, views, history) {
    setFields(this, viewer, { views, history, ids: new Map() });
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
    const { id } = await this.post({ network_id: viewerData.networkId, ...link });
    this.history.add(label, () => this.remove(id));
  }

  post(link) {
    return ask('topology/links', { method: 'POST', body: link });
  }

  // A link that was deleted and entered again has another id. Returns whether the link was still there.
  async remove(id) {
    const latest = this.ids.get(id) ?? id;
    const isRemoved = await ask(`topology/links/${latest}`, { method: 'DELETE' }).then(() => true, (error) => {
      if (error.status === 404) return false;
      throw error;
    });
    await this.views.load();
    return isRemoved;
  }

  async delete(link, label) {
    if (!(await this.remove(link.id))) return;
    this.history.add(label, async () => {
      const { id } = await this.post(link);
      for (const [first, latest] of this.ids) if (latest === link.id) this.ids.set(first, id);
      this.ids.set(link.id, id);
      await this.views.load();
    });
  }

  async list() {
    const content = byId('links-content');
    content.replaceChildren('Loading …');
    const links = await ask(`topology/links?${ofNetwork({ limit: 0 })}`);
    const ends = links.flatMap(({ source, target }) => [source, target]);
    const hosts = await this.records('hosts', 'id,name', ends.map((end) => end.host_id));
    const ports = await this.records('if-entries', 'id,if_index,if_name,if_descr', ends.map((end) => end.if_entry_id));
    const label = ({ host_id: host, if_entry_id: port }) => {
      const name = hosts.get(host)?.name ?? 'Unknown host';
      return port ? `${name} ${ports.has(port) ? portName(ports.get(port)) : 'unknown port'}` : name;
    };
    const rows = links.map((link) => this.row(link, [link.source, link.target].map(label)));
    content.replaceChildren(rows.length ? create('ul', { className: 'evidence' }, ...rows) : 'No link was entered or hidden.');
  }

  // The records with these ids, by id.
  async records(path, fields, all) {
    const ids = [...new Set(all.filter(Boolean))];
    const records = new Map();
    for (let start = 0; start < ids.length; start += FOUND_LIMIT) {
      const part = ids.slice(start, start + FOUND_LIMIT);
      for (const record of await ask(`${path}?${ofNetwork({ ids: part, fields, limit: part.length })}`)) records.set(record.id, record);
    }
    return records;
  }

  row(link, [source, target]) {
    const [kind, action, done] = link.suppressed ? ['Hidden', 'Show again', 'shown again'] : ['Added', 'Delete', 'deleted'];
    const take = button(action, () => attempt(async () => {
      await this.delete(link, `Link from ${source} to ${target} ${done}`);
      await this.list();
    }));
    return create('li', { className: 'entry' }, create('span', {}, nameText(source), ' – ', nameText(target),
      create('small', {}, `${kind} ${time(link.created_at)}`)), take);
  }
}
