// The state of the page in the fragment of its address, so that a copied address shows the same.
class Permalink {
  constructor() {
    this.listeners = [];
    this.read();
    // Not for what `set` writes: only for addresses that are typed, pasted or followed.
    listen(window, 'hashchange', () => {
      this.read();
      notify(this.listeners);
    });
  }

  read() {
    this.parts = new URLSearchParams(location.hash.slice(1));
  }

  list(name) {
    return (this.parts.get(name) ?? '').split(',').filter(Boolean);
  }

  // Replaces the values of a name. Without values, the name is left out.
  set(name, values) {
    const text = values.filter(Boolean).join(',');
    if (text === (this.parts.get(name) ?? '')) return;
    if (text) this.parts.set(name, text);
    else this.parts.delete(name);
    const fragment = this.parts.size ? `#${this.parts}` : '';
    history.replaceState(history.state, '', location.pathname + location.search + fragment);
  }
}

const READABLE_SCALE = 0.8;

// Keeps the selection in the address, and selects what an address names, once the picture is the one that it names.
function connectSelection(permalink, { selection, camera }, isReady = () => null) {
  selection.listeners.push(() => permalink.set('select', selection.ids()));
  const apply = async () => {
    const ids = permalink.list('select');
    await isReady();
    selection.restore(ids);
    const { selected, other } = selection;
    if (selected?.label !== undefined && !other) camera.centerOn(middle(selected), Math.max(camera.scale, READABLE_SCALE));
  };
  permalink.listeners.push(apply);
  apply();
}
