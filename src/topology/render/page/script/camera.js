const SCALE_LIMITS = { smallest: 0.02, largest: 4 };
// Below these scales port names, and then all text, are too small to read. Laying them out takes most of the time.
const PORT_SCALE = 0.55;
const TEXT_SCALE = 0.2;
const MARGIN = 24;
// The height of the buttons over the lower edge of the stage.
const BUTTONS_HEIGHT = 48;
const FLIGHT_MILLISECONDS = 220;
const REST_MILLISECONDS = 180;

// The part of the picture that the stage shows. A point of the graph appears at `offset + scale × point`.
class Camera {
  constructor(stage, picture) {
    this.stage = stage;
    // Browsers lay all text of a picture out again when its own transformation changes, but not when that of its parent does.
    this.canvas = picture.parentElement;
    this.take(picture);
    this.listeners = [];
    this.scale = 1;
    this.offset = { x: 0, y: 0 };
    this.isFitted = true;
    this.resize();
    this.canvas.classList.add('is-placed');
    // Observers report the first size too.
    new ResizeObserver(() => this.resize()).observe(stage);
    // Where the window is low, the page scrolls.
    listen(document, 'scroll', () => this.measure());
  }

  take(picture) {
    this.picture = picture;
    this.box = picture.viewBox.baseVal;
  }

  measure() {
    this.bounds = this.stage.getBoundingClientRect();
  }

  resize() {
    this.measure();
    // A hidden stage has no size.
    if (!this.bounds.width) return;
    if (this.isFitted) this.center();
    this.draw();
  }

  // The stage without what a panel covers: `{x, y, width, height}`, relative to the stage.
  clearArea() {
    const area = { x: 0, y: 0, width: this.bounds.width, height: this.bounds.height };
    const panel = byId('panel');
    if (!panel || panel.hidden) return area;
    const covered = panel.getBoundingClientRect();
    const coversWidth = covered.width > this.bounds.width * 0.7;
    if (coversWidth) area.height = covered.top - this.bounds.top;
    else area.width = covered.left - this.bounds.left;
    return area;
  }

  // Shows the whole picture.
  fit() {
    this.center();
    this.changed();
  }

  center() {
    const { width, height } = this.space();
    this.place(middle(this.box), Math.min((width - MARGIN) / this.box.width, (height - MARGIN) / this.box.height, 1.5));
    this.isFitted = true;
  }

  // The stage above the buttons.
  space() {
    return { width: this.bounds.width, height: this.bounds.height - (byId('zoom') ? BUTTONS_HEIGHT : 0) };
  }

  // Puts a point of the graph in the middle, or as near to it as leaves no space empty. An axis along which all is shown is centered.
  place(point, scale) {
    this.setScale(scale);
    const space = this.space();
    for (const [axis, size] of [['x', 'width'], ['y', 'height']]) {
      const start = this.scale * this.box[axis];
      const room = space[size] - this.scale * this.box[size];
      const wanted = space[size] / 2 - this.scale * point[axis] + start;
      this.offset[axis] = (room > 0 ? room / 2 : clamp(wanted, room, 0)) - start;
    }
  }

  setScale(scale) {
    const fitting = Math.min(this.bounds.width / this.box.width, this.bounds.height / this.box.height) / 2;
    this.scale = clamp(scale, Math.min(SCALE_LIMITS.smallest, fitting), SCALE_LIMITS.largest);
  }

  // Zooms so that a point of the stage stays where it is.
  zoom(factor, at = { x: this.bounds.width / 2, y: this.bounds.height / 2 }) {
    const before = this.scale;
    this.setScale(before * factor);
    const change = this.scale / before;
    this.offset.x = at.x - (at.x - this.offset.x) * change;
    this.offset.y = at.y - (at.y - this.offset.y) * change;
    this.moved();
  }

  pan(x, y) {
    this.offset.x += x;
    this.offset.y += y;
    this.moved();
  }

  moved() {
    cancelAnimationFrame(this.flight);
    this.isFitted = false;
    this.changed();
  }

  toGraph(point) {
    return { x: (point.x - this.offset.x) / this.scale, y: (point.y - this.offset.y) / this.scale };
  }

  toStage(event) {
    return { x: event.clientX - this.bounds.left, y: event.clientY - this.bounds.top };
  }

  // The part of the graph that is shown.
  shown() {
    const { x, y } = this.toGraph({ x: 0, y: 0 });
    return { x, y, width: this.bounds.width / this.scale, height: this.bounds.height / this.scale };
  }

  showsAll() {
    const { x, y, width, height } = this.shown();
    const isIn = (start, size, from, length) => from <= start && start + size <= from + length;
    return isIn(this.box.x, this.box.width, x, width) && isIn(this.box.y, this.box.height, y, height);
  }

  // Begins with a point of the graph.
  beginAt(point, scale) {
    this.place(point, scale);
    this.moved();
  }

  // Brings a point of the graph to the middle of the clear area.
  centerOn(point, scale = this.scale) {
    const area = this.clearArea();
    this.flyTo(scale, {
      x: area.x + area.width / 2 - scale * point.x,
      y: area.y + area.height / 2 - scale * point.y,
    });
  }

  // Moves only as far as needed to show a node, or another rectangle.
  reveal(node) {
    const area = this.clearArea();
    const missing = (start, size, from, length) =>
      Math.max(0, from + MARGIN - start) - Math.max(0, start + Math.min(size, length - 2 * MARGIN) - (from + length - MARGIN));
    const x = missing(this.offset.x + this.scale * node.x, this.scale * node.width, area.x, area.width);
    const y = missing(this.offset.y + this.scale * node.y, this.scale * node.height, area.y, area.height);
    if (x || y) this.flyTo(this.scale, { x: this.offset.x + x, y: this.offset.y + y });
  }

  // Shows a rectangle as a whole, no larger than now.
  showBox(box) {
    const area = this.clearArea();
    const scale = Math.min(this.scale, (area.width - 2 * MARGIN) / box.width, (area.height - 2 * MARGIN) / box.height);
    this.centerOn(middle(box), Math.max(scale, SCALE_LIMITS.smallest));
  }

  flyTo(scale, offset) {
    const start = { scale: this.scale, x: this.offset.x, y: this.offset.y };
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const begun = performance.now();
    const step = (now) => {
      const elapsed = isStill ? 1 : clamp((now - begun) / FLIGHT_MILLISECONDS, 0, 1);
      const part = 1 - (1 - elapsed) ** 3;
      this.scale = start.scale + (scale - start.scale) * part;
      this.offset.x = start.x + (offset.x - start.x) * part;
      this.offset.y = start.y + (offset.y - start.y) * part;
      this.changed();
      if (elapsed < 1) this.flight = requestAnimationFrame(step);
    };
    this.moved();
    step(begun);
  }

  changed() {
    this.stage.classList.add('is-moving');
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.stage.classList.remove('is-moving'), REST_MILLISECONDS);
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    const x = this.offset.x + this.scale * this.box.x;
    const y = this.offset.y + this.scale * this.box.y;
    this.canvas.style.transform = `translate(${x}px, ${y}px) scale(${this.scale})`;
    this.picture.classList.toggle('is-distant', this.scale < PORT_SCALE);
    this.picture.classList.toggle('is-remote', this.scale < TEXT_SCALE);
    notify(this.listeners);
  }
}
