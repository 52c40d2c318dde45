// The picture says in words what it shows.
function summarize(picture) {
  const description = picture.querySelector('desc')?.textContent.replace(/^[^:]*: |\.$/g, '');
  const parts = [picture.querySelector('.subtitle')?.textContent, description];
  byId('summary').textContent = parts.filter(Boolean).join(' · ');
}

function connectZoom(camera) {
  if (!byId('zoom')) return;
  byId('zoom').hidden = false;
  byId('zoom-in').addEventListener('click', () => camera.zoom(KEY_ZOOM));
  byId('zoom-out').addEventListener('click', () => camera.zoom(1 / KEY_ZOOM));
  byId('zoom-fit').addEventListener('click', () => camera.fit());
}

// Shows what a page needs to be looked at and moved. All else waits until it is used, or nothing else is to be done.
function startViewer(readGraph, picture) {
  document.documentElement.classList.add('interactive');
  const network = new Network(readGraph, picture);
  const camera = new Camera(byId('stage'), picture);
  byId('keyboard').hidden = false;
  const selection = new Selection(network, camera);
  new PointerInput(network, camera, selection);
  new KeyInput(network, camera, selection);
  new Search(network, camera, selection);
  new Tables(network, camera, selection);
  connectZoom(camera);
  connectExport(network, camera);
  summarize(picture);
  byId('tools').hidden = false;
  const minimap = byId('minimap') ? new Minimap(byId('minimap'), network, camera) : null;
  runWhenIdle([
    () => network.graph,
    () => network.links,
    () => network.elements,
    () => selection.cursor.prepare(),
    () => minimap?.draw(),
  ]);
}
