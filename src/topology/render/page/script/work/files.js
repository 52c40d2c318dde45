// The files of what is shown, and printing.
function connectFiles(views) {
  const update = () => {
    for (const link of byId('export').querySelectorAll('a')) {
      const parameters = ofNetwork({ format: new URL(link.href).searchParams.get('format'), detail: byId('detail').dataset.detail });
      for (const [name, value] of views.parameters()) parameters.set(name, value);
      link.search = parameters;
    }
  };
  views.listeners.push(update);
  views.viewer.network.listeners.push(update);
  for (const choice of byId('export').querySelectorAll('[data-paper]')) {
    listen(choice, 'click', () => print(choice.dataset.paper, 'tiles' in choice.dataset));
  }
  listen(window, 'afterprint', endPrint);

  // The side of the sheet that is longer follows the picture.
  function print(paper, isTiled) {
    const { width, height } = views.viewer.camera.box;
    endPrint();
    const orientation = width >= height ? 'landscape' : 'portrait';
    document.body.style.page = `${paper}-${orientation}`;
    if (isTiled) layTiles(views.viewer, PAPERS[paper], orientation);
    byId('export').hidePopover();
    window.print();
  }
}

// The printable sides of sheets with margins of 10 mm, in pixels of CSS.
const PAPERS = { a4: [718, 1046], a3: [1046, 1510] };
const MAX_TILES = 400;

// Sheets that show the picture at its own size, at which all names can be read. They overlap by a card, so that each is whole on one.
function layTiles({ camera, network }, sides, orientation) {
  const [width, height] = orientation === 'landscape' ? [sides[1], sides[0]] : sides;
  const { box } = camera;
  const cards = network.graph.nodes.filter((node) => !network.children.has(node.id));
  const [across, down] = [['width', width], ['height', height]].map(([side, length]) => {
    const step = length - Math.min(length / 2, Math.max(0, ...cards.map((card) => card[side])));
    return { step, count: 1 + Math.max(0, Math.ceil((box[side] - length) / step)) };
  });
  if (across.count * down.count > MAX_TILES) return announce('The picture takes too many sheets. It is printed on one.', true);
  const tiles = create('div', { id: 'tiles' });
  network.picture.id = 'whole';
  const drawn = drawnParts(network);
  for (let place = 0; place < across.count * down.count; place += 1) {
    const [column, row] = [place % across.count, Math.floor(place / across.count)];
    const [x, y] = [box.x + column * across.step, box.y + row * down.step];
    // The title is on the first one.
    if (place && !drawn.some((part) => part.x <= x + width && x <= part.x + part.width && part.y <= y + height && y <= part.y + part.height)) continue;
    const tile = createSvg('svg', { viewBox: `${x} ${y} ${width} ${height}`, width, height });
    const label = createSvg('text', { x: x + width - 4, y: y + height - 4, 'font-size': 10, 'text-anchor': 'end' });
    label.append(`Row ${row + 1} of ${down.count}, column ${column + 1} of ${across.count}`);
    tile.append(createSvg('use', { href: '#whole', x: box.x, y: box.y, width: box.width, height: box.height }), label);
    tiles.append(tile);
  }
  document.body.append(tiles);
}

// The rectangles of everything that is drawn below the title: a sheet without any of it would be blank.
function drawnParts(network) {
  const shown = (items) => items.filter((item) => network.shows(item));
  const { nodes, edges } = network.graph;
  const lines = shown(edges).flatMap(({ points }) => points.slice(1).map((point, place) => boxAround([points[place], point])));
  const others = Array.from(network.picture.querySelectorAll('.legend, .notes'), (part) => {
    const [{ x, y, width, height }, shift] = [part.getBBox(), shiftOf(part)];
    return { x: x + shift.x, y: y + shift.y, width, height };
  });
  return [...shown(nodes), ...lines, ...others];
}

function endPrint() {
  document.body.style.page = '';
  byId('tiles')?.remove();
}
