const FIRST_ROWS = 100;
const ROWS_PER_FRAME = 100;

// A cell with a name, and what it is ordered by.
const nameCell = (toText) => [(item) => nameText(toText(item)), toText];

// The network as two tables, for those who cannot use the picture. They are filled when they are opened first.
class Tables {
  constructor(network, camera, selection) {
    setFields(this, { network, camera, selection, isFilled: false, orders: new WeakMap() });
    this.dialog = byId('tables');
    this.content = byId('tables-content');
    onClick('open-tables', () => this.open());
    onClick('close-tables', () => this.dialog.close());
    network.listeners.push(() => this.refresh());
  }

  open() {
    if (!this.isFilled) this.fill();
    this.dialog.showModal();
  }

  // An open table stays while it is read.
  refresh() {
    this.isFilled = false;
  }

  fill() {
    this.isFilled = true;
    this.content.replaceChildren();
    const { graph: { nodes, edges, unplaced = [] }, nodes: byNode, links } = this.network;
    // Those of the picture that the tables are of.
    setFields(this, { nodes: byNode, links });
    this.addTable('Nodes', this.nodeColumns(nodes), nodes);
    this.addTable('Links', this.edgeColumns(), edges);
    if (unplaced.length) this.addTable('Hosts that are not drawn', this.unplacedColumns(), unplaced);
  }

  // The columns: name, content of a cell, and what the rows are ordered by. Those that would be empty are left out.
  nodeColumns(nodes) {
    const { network } = this;
    const detail = (node) => node.detail ?? '';
    const parent = (node) => this.nodes.get(node.parent_id)?.label ?? '';
    const links = (node) => String(this.links.get(node.id).length);
    const columns = [
      ['Name', (node) => this.nodeButton(node.id), (node) => node.label],
      ['Role', (node) => network.describe(node)],
    ];
    if (nodes.some((node) => node.detail)) columns.push(['Address', ...nameCell(detail)]);
    if (nodes.some((node) => node.parent_id)) columns.push(['Inside', ...nameCell(parent)]);
    return [...columns, ['Links', links]];
  }

  edgeColumns() {
    const { network } = this;
    const end = (side) => [(edge) => this.nodeButton(edge[side]), (edge) => this.nodes.get(edge[side])?.label ?? ''];
    const port = (side) => nameCell((edge) => portsOf(edge, side));
    const state = network.hasStates ? [['State', (edge) => problem(edge.state) ?? STATES[edge.state] ?? '']] : [];
    return [
      ['From', ...end('source')],
      ['Port', ...port('source_port')],
      ['To', ...end('target')],
      ['Port', ...port('target_port')],
      ['Speed', (edge) => (edge.speed_bps ? speed(edge.speed_bps) : ''), (edge) => String(edge.speed_bps ?? 0)],
      ['Confidence', (edge) => edge.confidence],
      ...state,
    ];
  }

  unplacedColumns() {
    return [
      ['Name', ...nameCell((host) => host.label)],
      ['Role', (host) => words(host.role)],
      ['Address', ...nameCell((host) => host.detail ?? '')],
      ['Subnet', ...nameCell((host) => host.subnet ?? '')],
    ];
  }

  // Adds a table in the order of its first column. The heads order it by another column, or the other way round.
  addTable(caption, columns, items) {
    const body = create('tbody');
    const heads = columns.map(([name], place) => {
      const head = create('th', { scope: 'col' });
      head.append(button(name, () => order(place, place === column ? -direction : 1), { className: 'sort' }));
      return head;
    });
    const title = create('caption', {}, `${caption} (${number(items.length)})`);
    const table = create('table', {}, title, create('thead', {}, create('tr', {}, ...heads)), body);
    let [column, direction] = [0, 1];
    const order = (place, way) => {
      [column, direction] = [place, way];
      for (const head of heads) head.ariaSort = null;
      heads[place].ariaSort = way > 0 ? 'ascending' : 'descending';
      const [, toCell, toText = toCell] = columns[place];
      const compare = byText(toText);
      const sorted = items.toSorted((one, other) => way * compare(one, other));
      this.fillBody(table, body, sorted, (item) => this.row(columns.map(([, toCell]) => toCell(item))));
    };
    this.content.append(table);
    order(0, 1);
  }

  // The first rows, and a button for all others.
  fillBody(table, body, items, toRow) {
    // Stops what still adds rows in another order.
    const turn = (this.orders.get(body) ?? 0) + 1;
    this.orders.set(body, turn);
    body.replaceChildren(...items.slice(0, FIRST_ROWS).map(toRow));
    if (table.nextElementSibling?.matches('.more')) table.nextElementSibling.remove();
    if (items.length <= FIRST_ROWS) return;
    const more = button(`Show all ${plural(items.length, 'row')}`, () => {
      more.remove();
      this.addRows(body, items.slice(FIRST_ROWS), toRow, turn);
      body.rows[FIRST_ROWS].querySelector('button')?.focus();
    }, { className: 'more' });
    table.after(more);
  }

  // A few rows a frame, so that the page answers meanwhile.
  addRows(body, items, toRow, turn) {
    if (this.orders.get(body) !== turn) return;
    body.append(...items.slice(0, ROWS_PER_FRAME).map(toRow));
    const others = items.slice(ROWS_PER_FRAME);
    if (others.length) requestAnimationFrame(() => this.addRows(body, others, toRow, turn));
  }

  row([first, ...others]) {
    return create('tr', {}, create('th', { scope: 'row' }, first), ...others.map((cell) => create('td', {}, cell)));
  }

  nodeButton(id) {
    const node = this.nodes.get(id);
    if (!node) return 'Unknown';
    return button(nameText(node.label || 'Unnamed'), () => this.choose(node), { className: 'link-button' });
  }

  // The node may be that of an earlier picture.
  choose({ id }) {
    const node = this.network.nodes.get(id);
    this.dialog.close();
    if (node) show(node, this.camera, this.selection);
    else announce('This node is not drawn any more.', true);
  }
}
