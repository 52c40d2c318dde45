// A press that moves further than this many pixels drags the picture and selects nothing.
const DRAG_DISTANCE = 4;
const EDGE_REACH = 8;

// Drags with one pointer, pinches with two, zooms with the wheel, and selects with a click.
class PointerInput {
  constructor(network, camera, selection) {
    setFields(this, { network, camera, selection, pointers: new Map(), isDragging: false });
    const onStage = (name, action) => listen(camera.stage, name, action, { passive: false });
    onStage('pointerdown', (event) => this.press(event));
    onStage('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel']) onStage(name, (event) => this.release(event));
    onStage('click', (event) => this.click(event));
    onStage('dblclick', (event) => this.isOnPicture(event) && camera.zoom(1.8, camera.toStage(event)));
    onStage('wheel', (event) => this.wheel(event));
  }

  isOnPicture(event) {
    return event.target === this.camera.stage || this.camera.picture.contains(event.target);
  }

  press(event) {
    if (event.button !== 0 || !this.isOnPicture(event)) return;
    if (!this.pointers.size) setFields(this, { isDragging: false, start: event });
    this.pointers.set(event.pointerId, this.camera.toStage(event));
    // Fingers move the picture only: they would move nodes by mistake.
    this.held = event.pointerType === 'touch' ? null : this.mover?.nodeOf(event);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const distance = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY);
    if (!this.isDragging && distance < DRAG_DISTANCE && this.pointers.size === 1) return;
    if (!this.isDragging) this.beginDrag(event);
    const after = this.camera.toStage(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (this.held) this.mover.drag(this.held, (after.x - before.x) / this.camera.scale, (after.y - before.y) / this.camera.scale);
    else if (others.length) this.pinch(before, after, others[0][1]);
    else this.camera.pan(after.x - before.x, after.y - before.y);
    this.pointers.set(event.pointerId, after);
  }

  // Whether the reader holds the picture or a node of it.
  isHolding() {
    return this.pointers.size > 0 || Boolean(this.mover?.moved);
  }

  // A captured pointer no longer clicks what it pressed, so that it is captured only when it drags.
  beginDrag(event) {
    this.isDragging = true;
    this.camera.stage.setPointerCapture(event.pointerId);
    this.camera.stage.classList.add('is-dragged');
  }

  pinch(before, after, other) {
    const spread = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    const center = (point) => ({ x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 });
    this.camera.pan(center(after).x - center(before).x, center(after).y - center(before).y);
    this.camera.zoom(spread(after) / spread(before), center(after));
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size) return;
    if (!this.held || !this.isDragging || !this.mover.drop()) this.onRelease?.();
    this.held = null;
    this.camera.stage.classList.remove('is-dragged');
    // Not at once: the click that ends a drag follows in the same task.
    setTimeout(() => { this.isDragging = false; });
  }

  click(event) {
    if (!this.isOnPicture(event) || this.isDragging) return;
    const target = this.target(event);
    if (!target) return this.selection.clear();
    if (!this.network.nodes.has(target.id)) return this.selection.selectEdge(target);
    if (event.shiftKey && this.selection.paths?.extend(target)) return;
    this.selection.toggle(target);
    this.selection.cursor.focus(target);
  }

  // Lines are thin: one that passes close by is meant, unless a node without children is hit.
  target(event) {
    const node = this.network.nodes.get(event.target.closest('.node, .container')?.dataset.id);
    if (node && !this.network.children.has(node.id)) return node;
    const edge = this.network.edges.get(event.target.closest('.edge')?.dataset.id);
    const point = this.camera.toGraph(this.camera.toStage(event));
    return edge ?? this.network.edgeNear(point, EDGE_REACH / this.camera.scale) ?? node;
  }

  wheel(event) {
    if (!this.isOnPicture(event)) return;
    event.preventDefault();
    const pixels = event.deltaY * [1, 16, 400][event.deltaMode];
    // Browsers report the pinch of a touch pad as a wheel with the control key, in smaller steps.
    const strength = event.ctrlKey ? 0.01 : 0.0016;
    this.camera.zoom(Math.exp(-clamp(pixels, -300, 300) * strength), this.camera.toStage(event));
  }
}
