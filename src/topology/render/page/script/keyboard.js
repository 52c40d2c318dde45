const KEY_ZOOM = 1.3;
const KEY_PAN = 80;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

class KeyInput {
  constructor(network, camera, selection) {
    setFields(this, { network, camera, selection, cursor: selection.cursor });
    listen(document, 'keydown', (event) => this.press(event));
  }

  press(event) {
    const { target } = event;
    if (document.querySelector('dialog[open], :popover-open')) return;
    if (this.combinations?.press(event)) return event.preventDefault();
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'Escape' && !target.closest('input')) return this.selection.clear();
    if (target !== document.body && !this.cursor.area.contains(target)) return;
    const node = this.cursor.hasFocus() ? this.cursor.node : null;
    if (this.act(event.key, event.shiftKey, node)) event.preventDefault();
  }

  // Returns whether the key means something here.
  act(key, isShifted, node) {
    const direction = DIRECTIONS[key];
    if (direction && (isShifted || !node)) this.camera.pan(-direction[0] * KEY_PAN, -direction[1] * KEY_PAN);
    else if (direction) this.goTo(this.network.neighborTowards(node, direction));
    else if (key === '+' || key === '=') this.zoom(KEY_ZOOM, node);
    else if (key === '-' || key === '_') this.zoom(1 / KEY_ZOOM, node);
    else if (key === '0') this.camera.fit();
    else if (key === '/') byId('search').focus();
    else if (key === 'f' && node && this.selection.folds) this.selection.folds.toggle(node);
    else if (key === 'Enter' && isShifted && node && this.selection.paths) return this.selection.paths.extend(node);
    else return node ? this.step(key, node) : false;
    return true;
  }

  step(key, node) {
    const { order } = this.network;
    const position = order.indexOf(node);
    const steps = { PageUp: position - 1, PageDown: position + 1, Home: 0, End: order.length - 1 };
    if (!(key in steps)) return false;
    this.goTo(order[steps[key]]);
    return true;
  }

  // Where there is no node, the cursor stays.
  goTo(node) {
    if (node) this.cursor.focus(node);
  }

  // The node that has the focus stays where it is.
  zoom(factor, node) {
    const { scale, offset } = this.camera;
    if (!node) return this.camera.zoom(factor);
    const { x, y } = middle(node);
    this.camera.zoom(factor, { x: offset.x + scale * x, y: offset.y + scale * y });
  }
}
