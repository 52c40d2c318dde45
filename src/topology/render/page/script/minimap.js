const MINIMAP_SIZE = { width: 200, height: 140 };

class Minimap {
  constructor(element, network, camera) {
    setFields(this, { element, network, camera });
    this.frame = createSvg('rect', { class: 'shown' });
    network.listeners.push(() => this.draw());
    camera.listeners.push(() => this.place());
    for (const name of ['pointerdown', 'pointermove']) listen(element, name, (event) => this.point(event));
  }

  // Three paths instead of thousands of elements.
  draw() {
    const { network, element } = this;
    const { x, y, width, height } = network.picture.viewBox.baseVal;
    const scale = Math.min(MINIMAP_SIZE.width / width, MINIMAP_SIZE.height / height);
    element.setAttribute('viewBox', `${x} ${y} ${width} ${height}`);
    element.setAttribute('width', Math.max(width * scale, 24));
    element.setAttribute('height', Math.max(height * scale, 24));
    const box = (node) => `M${node.x} ${node.y}h${node.width}v${node.height}h${-node.width}z`;
    const isContainer = (node) => network.children.has(node.id);
    const lines = network.graph.edges.map((edge) => edge.points.map(([x, y]) => `${x} ${y}`).join('L')).filter(Boolean);
    const areas = network.graph.nodes.filter(isContainer).map(box);
    const boxes = network.graph.nodes.filter((node) => !isContainer(node)).map(box);
    this.isDrawn = true;
    element.replaceChildren(
      createSvg('path', { class: 'areas', d: areas.join('') }),
      createSvg('path', { class: 'lines', d: lines.map((line) => `M${line}`).join('') }),
      createSvg('path', { class: 'boxes', d: boxes.join('') }),
      this.frame,
    );
    this.place();
  }

  // Where all of the picture is shown, the minimap would only cover a part of it.
  place() {
    // SVG elements have no property `hidden`.
    this.element.toggleAttribute('hidden', !this.isDrawn || this.camera.showsAll());
    const shown = this.camera.shown();
    for (const [name, value] of Object.entries(shown)) this.frame.setAttribute(name, value);
  }

  point(event) {
    if (!event.buttons) return;
    event.stopPropagation();
    const bounds = this.element.getBoundingClientRect();
    const { box, scale } = this.camera;
    const x = box.x + ((event.clientX - bounds.left) / bounds.width) * box.width;
    const y = box.y + ((event.clientY - bounds.top) / bounds.height) * box.height;
    const stage = this.camera.bounds;
    this.camera.offset = { x: stage.width / 2 - scale * x, y: stage.height / 2 - scale * y };
    this.camera.moved();
  }
}
