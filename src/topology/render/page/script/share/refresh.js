const REFRESH_MILLISECONDS = 30_000;

// The parts of a share beside the picture: folds, filters, an address of what is selected, and a picture that stays up to date.
function startShare(viewer, share, token) {
  const { network, selection } = viewer;
  const permalink = new Permalink();
  selection.folds = new LocalFolds(network, selection);
  new Filters(network, permalink);
  connectSelection(permalink, viewer);
  // A page in a file has no server.
  if (location.protocol === 'file:') return;
  // A page in the background asks nothing. It is up to date as soon as it is looked at.
  const refresh = () => document.hidden || refreshShare(viewer, share, token).catch(() => {});
  setInterval(refresh, REFRESH_MILLISECONDS);
  listen(document, 'visibilitychange', refresh);
}

async function refreshShare(viewer, share, token) {
  const path = `../api/v1/shares/public/${encodeURIComponent(share)}/topology`;
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const { revision } = viewer.network.graph;
  const { topology } = await post(path, headers, JSON.stringify({ revision }));
  if (topology) replacePicture(viewer, () => topology.graph, parsePicture(topology.svg));
}

// Parsed as XML, the text of the picture cannot become markup of this page.
function parsePicture(text) {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  if (root.namespaceURI !== SVG_NAMESPACE || root.localName !== 'svg' || root.querySelector('parsererror')) {
    throw new Problem('The picture arrived damaged. Try again.');
  }
  return document.importNode(root, true);
}
