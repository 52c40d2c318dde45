const MAX_ATTEMPTS = 5;

// The positions that users have given to nodes. Each change is applied to what is stored at that moment, so that those of other
// users stay.
class Pins {
  constructor(views) {
    setFields(this, { views, queue: Promise.resolve(), layouts: new Map() });
  }

  path(view) {
    return `topology/layouts/${viewerData.networkId}/${view}`;
  }

  async read(view) {
    const response = await send(API + this.path(view));
    const layout = { positions: (await response.json()).data.positions, tag: response.headers.get('ETag') };
    this.layouts.set(view, layout);
    return layout;
  }

  // Pins a node at a position, or unpins it with `null`. Returns its former position. Changes wait for each other.
  set(view, id, position) {
    const change = this.queue.then(() => this.store(view, id, position));
    this.queue = change.catch(() => {});
    return change;
  }

  async store(view, id, position) {
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      const { positions, tag } = this.layouts.get(view) ?? (await this.read(view));
      const before = positions.find((known) => known.id === id) ?? null;
      const others = positions.filter((known) => known !== before);
      const body = { positions: position ? [...others, { id, ...position }] : others };
      const response = await send(API + this.path(view), { method: 'PUT', headers: { 'If-Match': tag }, body });
      if (response.status === 412) {
        this.layouts.delete(view);
        continue;
      }
      const stored = (await response.json()).data.positions;
      this.layouts.set(view, { positions: stored, tag: response.headers.get('ETag') });
      return before && { x: before.x, y: before.y };
    }
    throw new Problem('Others are moving nodes too. Try again.');
  }
}

// The changes that can be undone, the latest last.
class History {
  constructor() {
    this.steps = [];
    this.button = byId('undo');
    listen(this.button, 'click', () => this.undo());
    this.update();
  }

  add(label, revert) {
    this.steps.push({ label, revert });
    this.update();
    announce(`${label}. Undo takes it back.`, true);
  }

  async undo() {
    const step = this.steps.pop();
    if (!step) return announce('Nothing to undo', true);
    this.update();
    await attempt(async () => {
      await step.revert().catch((error) => {
        this.steps.push(step);
        this.update();
        throw error;
      });
      announce(`Undone: ${step.label}`, true);
    });
  }

  update() {
    this.button.disabled = !this.steps.length;
    this.button.title = this.steps.at(-1)?.label ?? '';
  }
}
