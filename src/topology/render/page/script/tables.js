const FIRST_ROWS = 100;
const ROWS_PER_FRAME = 100;

// The network as two tables, for those who cannot use the picture. They are filled when they are opened first.
class Tables {
  constructor(network, camera, selection) {
    Object.assign(this, { network, camera, selection, isFilled: false });
    this.dialog = byId('tables');
    byId('open-tables').addEventListener('click', () => this.open());
    byId('close-tables').addEventListener('click', () => this.dialog.close());
  }

  open() {
    if (!this.isFilled) this.fill();
    this.dialog.showModal();
  }

  fill() {
    this.isFilled = true;
    const { nodes, edges } = this.network.graph;
    this.addTable('Nodes', this.nodeColumns(nodes), nodes);
    this.addTable('Links', this.edgeColumns(), edges);
    const { unplaced = [] } = this.network.graph;
    if (unplaced.length) this.addTable('Hosts that are not drawn', this.unplacedColumns(), unplaced);
  }

  // The columns with their cells. Those that would be empty are left out.
  nodeColumns(nodes) {
    const { network } = this;
    const columns = [['Name', (node) => this.nodeButton(node.id)], ['Role', (node) => network.describe(node)]];
    if (nodes.some((node) => node.detail)) columns.push(['Address', (node) => nameText(node.detail ?? '')]);
    if (nodes.some((node) => node.parent_id)) columns.push(['Inside', (node) => nameText(network.nodes.get(node.parent_id)?.label ?? '')]);
    return [...columns, ['Links', (node) => String(network.links.get(node.id).length)]];
  }

  edgeColumns() {
    const port = (edge, side) => nameText(portsOf(edge, side));
    const state = this.network.hasStates ? [['State', (edge) => problem(edge.state) ?? STATES[edge.state] ?? '']] : [];
    return [
      ['From', (edge) => this.nodeButton(edge.source)],
      ['Port', (edge) => port(edge, 'source_port')],
      ['To', (edge) => this.nodeButton(edge.target)],
      ['Port', (edge) => port(edge, 'target_port')],
      ['Speed', (edge) => (edge.speed_bps ? speed(edge.speed_bps) : '')],
      ['Confidence', (edge) => edge.confidence],
      ...state,
    ];
  }

  unplacedColumns() {
    return [
      ['Name', (host) => nameText(host.label)],
      ['Role', (host) => words(host.role)],
      ['Address', (host) => nameText(host.detail ?? '')],
      ['Subnet', (host) => nameText(host.subnet ?? '')],
    ];
  }

  // Adds a table with its first rows, and a button for all others.
  addTable(caption, columns, items) {
    const toRow = (item) => this.row(columns.map(([, toCell]) => toCell(item)));
    const body = create('tbody');
    const head = create('tr', {}, ...columns.map(([name]) => create('th', { scope: 'col' }, name)));
    const table = create('table', {}, create('caption', {}, `${caption} (${items.length.toLocaleString('en')})`), create('thead', {}, head), body);
    body.append(...items.slice(0, FIRST_ROWS).map(toRow));
    byId('tables-content').append(table);
    if (items.length <= FIRST_ROWS) return;
    const more = button(`Show all ${plural(items.length, 'row')}`, () => {
      more.remove();
      this.addRows(body, items.slice(FIRST_ROWS), toRow);
      body.rows[FIRST_ROWS].querySelector('button')?.focus();
    }, { className: 'more' });
    table.after(more);
  }

  // A few rows a frame, so that the page answers meanwhile.
  addRows(body, items, toRow) {
    body.append(...items.slice(0, ROWS_PER_FRAME).map(toRow));
    const others = items.slice(ROWS_PER_FRAME);
    if (others.length) requestAnimationFrame(() => this.addRows(body, others, toRow));
  }

  row([first, ...others]) {
    return create('tr', {}, create('th', { scope: 'row' }, first), ...others.map((cell) => create('td', {}, cell)));
  }

  nodeButton(id) {
    const node = this.network.nodes.get(id);
    if (!node) return 'Unknown';
    return button(nameText(node.label || 'Unnamed'), () => this.choose(node), { className: 'link-button' });
  }

  choose(node) {
    this.dialog.close();
    show(node, this.camera, this.selection);
  }
}
