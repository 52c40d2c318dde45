// The picture says in words what it shows.
function summarize(picture) {
  const description = picture.querySelector('desc')?.textContent.replace(/^[^:]*: |\.$/g, '');
  const parts = [picture.querySelector('.subtitle')?.textContent, description];
  byId('summary').textContent = parts.filter(Boolean).join(' · ');
}

function connectZoom(camera) {
  if (!byId('zoom')) return;
  byId('zoom').hidden = false;
  onClick('zoom-in', () => camera.zoom(KEY_ZOOM));
  onClick('zoom-out', () => camera.zoom(1 / KEY_ZOOM));
  onClick('zoom-fit', () => camera.fit());
}

// The size of names in the picture at scale 1, and the smallest size at which they can be read, in pixels.
const NAME_SIZE = 13;
const READABLE = 9;
const SMALL = { width: 640, height: 400 };

// A small stage, as that of a phone, begins at a readable scale, at the node with the most links: all of a large network would show
// no words there.
function beginReadable(network, camera) {
  const { width, height } = camera.bounds;
  if ((width > SMALL.width && height > SMALL.height) || camera.scale * NAME_SIZE >= READABLE) return;
  const links = (node) => network.links.get(node.id).length;
  const cards = network.order.filter((node) => !network.children.has(node.id) && node.kind !== 'Segment');
  const first = cards.reduce((best, node) => (links(node) > links(best) ? node : best), cards[0]);
  if (first) camera.beginAt(middle(first), (READABLE + 1) / NAME_SIZE);
}

// Shows what a page needs to be looked at and moved. All else waits until it is used, or nothing else is to be done.
function startViewer(readGraph, picture) {
  document.documentElement.classList.add('interactive');
  const network = new Network(readGraph, picture);
  const camera = new Camera(byId('stage'), picture);
  byId('keyboard').hidden = false;
  const selection = new Selection(network, camera);
  const pointer = new PointerInput(network, camera, selection);
  const keys = new KeyInput(network, camera, selection);
  const search = new Search(network, camera, selection);
  new Tables(network, camera, selection);
  connectZoom(camera);
  connectExport(network, camera);
  summarize(picture);
  network.listeners.push(() => summarize(network.picture));
  byId('tools').hidden = false;
  beginReadable(network, camera);
  const minimap = byId('minimap') ? new Minimap(byId('minimap'), network, camera) : null;
  runWhenIdle([
    () => network.graph,
    () => network.links,
    () => network.elements,
    () => selection.cursor.prepare(),
    () => minimap?.draw(),
  ]);
  return { network, camera, selection, pointer, keys, search, loadedAt: Date.now() };
}
