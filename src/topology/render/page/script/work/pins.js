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

  // Pins a node at a position, or unpins it with `null`. Returns its former and its present position. With `expected`, nothing
  // changes, and nothing is returned, unless this is its former position. Changes wait for each other.
  set(view, id, position, expected) {
    const change = this.queue.then(() => this.store(view, id, position, expected));
    this.queue = change.catch(() => {});
    return change;
  }

  async store(view, id, position, expected) {
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      const { positions, tag } = this.layouts.get(view) ?? (await this.read(view));
      const before = placeOf(positions, id);
      if (expected !== undefined && (before?.x !== expected?.x || before?.y !== expected?.y)) return null;
      const others = positions.filter((known) => known.id !== id);
      const body = { positions: position ? [...others, { id, ...position }] : others };
      const response = await send(API + this.path(view), { method: 'PUT', headers: { 'If-Match': tag }, body });
      if (response.status === 412) {
        this.layouts.delete(view);
        continue;
      }
      const stored = (await response.json()).data.positions;
      this.layouts.set(view, { positions: stored, tag: response.headers.get('ETag') });
      return { before, after: placeOf(stored, id) };
    }
    throw new Problem('Others are moving nodes too. Try again.');
  }
}

// The position of a node among all positions, or `null`.
function placeOf(positions, id) {
  const { x, y } = positions.find((known) => known.id === id) ?? {};
  return x === undefined ? null : { x, y };
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

  // `revert` returns `null` if another user has changed the same since: then it stays, and the step before is next.
  async undo() {
    const step = this.steps.pop();
    if (!step) return announce('Nothing to undo', true);
    this.update();
    await attempt(async () => {
      const reverted = await step.revert().catch((error) => {
        this.steps.push(step);
        this.update();
        throw error;
      });
      announce(reverted === null ? `Not undone, because it was changed since: ${step.label}` : `Undone: ${step.label}`, true);
    });
  }

  update() {
    this.button.disabled = !this.steps.length;
    this.button.title = this.steps.at(-1)?.label ?? '';
  }
}
