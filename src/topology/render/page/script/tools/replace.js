// Shows another graph with its picture. What is selected stays selected, and what is looked at stays where it is.
function replacePicture(viewer, readGraph, picture) {
  const { network, camera, selection } = viewer;
  const { cursor } = selection;
  const [ids, place, anchor] = [selection.ids(), cursor.node?.id, network.nodes.get(viewer.anchor) ?? nearestToMiddle(viewer)];
  viewer.anchor = null;
  const before = anchor && middle(anchor);
  selection.unmark();
  network.replace(readGraph, picture);
  camera.take(picture);
  const after = network.nodes.get(anchor?.id);
  if (camera.isFitted) camera.fit();
  else camera.pan(...(after ? [before.x - middle(after).x, before.y - middle(after).y] : [0, 0]).map((way) => way * camera.scale));
  cursor.keep(network.nodes.get(place));
  selection.restore(ids, true);
}

// The node that stays where it is: what is selected, or else the node nearest to the middle of the stage.
function nearestToMiddle({ network, camera, selection }) {
  if (network.nodes.has(selection.selected?.id)) return selection.selected;
  const center = camera.toGraph({ x: camera.bounds.width / 2, y: camera.bounds.height / 2 });
  const distance = (node) => {
    const { x, y } = middle(node);
    return Math.hypot(x - center.x, y - center.y);
  };
  return network.graph.nodes.toSorted((one, other) => distance(one) - distance(other))[0];
}

// States since when the picture may be out of date, as long as an error keeps it from being checked.
function reportFreshness(viewer, error) {
  const since = new Date(viewer.loadedAt).toTimeString().slice(0, 5);
  byId('freshness').textContent = error ? `Not updated since ${since}. ${error.message}` : '';
}

// An error whose message is meant for the reader.
class Problem extends Error {}
