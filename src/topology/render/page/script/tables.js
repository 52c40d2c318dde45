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
    this.addTable('Nodes', ['Name', 'Role', 'Inside', 'Links'], nodes, (node) => this.nodeRow(node));
    this.addTable('Links', ['From', 'Port', 'To', 'Port', 'Speed', 'Confidence'], edges, (edge) => this.edgeRow(edge));
  }

  // Adds a table with its first rows, and a button for all others.
  addTable(caption, columns, items, toRow) {
    const body = create('tbody');
    const head = create('tr', {}, ...columns.map((column) => create('th', { scope: 'col' }, column)));
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

  nodeRow(node) {
    const parent = this.network.nodes.get(node.parent_id);
    const cells = [this.network.describe(node), parent ? nameText(parent.label) : '', String(this.network.links.get(node.id).length)];
    return this.row(this.nodeButton(node.id), cells);
  }

  edgeRow(edge) {
    const port = (side) => (side?.name ? nameText(side.name) : '');
    const cells = [port(edge.source_port), this.nodeButton(edge.target), port(edge.target_port),
      edge.speed_bps ? speed(edge.speed_bps) : '', edge.confidence];
    return this.row(this.nodeButton(edge.source), cells);
  }

  row(first, cells) {
    return create('tr', {}, create('th', { scope: 'row' }, first), ...cells.map((cell) => create('td', {}, cell)));
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
