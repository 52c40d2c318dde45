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
  const refresh = async () => {
    if (document.hidden || byId('viewer').hidden) return;
    try {
      await refreshShare(viewer, share, token);
      reportFreshness(viewer);
    } catch (error) {
      if (error.status in ENDINGS) endShare(viewer, ENDINGS[error.status]);
      else reportFreshness(viewer, error);
    }
  };
  setInterval(refresh, REFRESH_MILLISECONDS);
  listen(document, 'visibilitychange', refresh);
}

// The reasons for which a share that was open is not shown any more, by status.
const ENDINGS = {
  401: 'Its password was changed, or is asked for anew. Load the page again to enter it.',
  404: 'It is no longer shared.',
};

// Shows nothing more of the network.
function endShare({ selection }, reason) {
  selection.clear();
  byId('tables').close();
  for (const part of ['graph', 'canvas', 'tables-content', 'minimap']) byId(part)?.replaceChildren();
  byId('viewer').hidden = true;
  const heading = create('h1', { tabIndex: -1 }, 'This page is not available any more');
  document.body.append(create('main', { className: 'message' }, heading, create('p', {}, reason)));
  heading.focus();
}

async function refreshShare(viewer, share, token) {
  const path = `../api/v1/shares/public/${encodeURIComponent(share)}/topology`;
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const { revision } = viewer.network.graph;
  const { topology } = await post(path, headers, JSON.stringify({ revision }));
  viewer.loadedAt = Date.now();
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
