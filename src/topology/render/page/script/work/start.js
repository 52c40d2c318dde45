// Starts the page of a network: the picture, then what readers may do with it.
{
  const readGraph = () => JSON.parse(byId('graph').textContent);
  const viewer = startViewer(readGraph, document.querySelector('#canvas > .topology'));
  const permalink = new Permalink();
  const { network, selection } = viewer;
  const views = new Views(viewer, permalink);
  selection.paths = new Paths(viewer, views);
  new Undrawn(viewer, views);
  views.filters = new Filters(network, permalink, () => views.load());
  new TimeSlider(views);
  connectFiles(views);
  connectReading(viewer, views);
  byId('work').hidden = false;
  if ('edits' in viewerData) {
    const history = new History();
    new Mover(viewer, views, new Pins(views), history);
    new ManualLinks(viewer, views, history);
  }
  connectSelection(permalink, viewer, () => views.read());
}
