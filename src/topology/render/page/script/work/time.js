// A day in milliseconds.
const DAY = 86_400_000;
const DAY_REST_MILLISECONDS = 250;
const dayOf = (number) => new Date(number * DAY).toISOString().slice(0, 10);

// Shows the network as it was at the end of a day in UTC, or marks its changes since then.
class TimeSlider {
  constructor(views) {
    setFields(this, { views, counts: new Map(), turn: Promise.resolve(), slider: byId('day'), marks: byId('since-day') });
    listen(byId('time'), 'beforetoggle', (event) => event.newState === 'open' && attempt(() => this.fill()));
    listen(this.slider, 'input', () => this.describe());
    for (const input of [this.slider, this.marks]) listen(input, 'change', () => this.choose());
    onClick('now', () => {
      this.slider.value = this.slider.max;
      this.choose();
    });
    views.time = this;
    views.listeners.push(() => this.update());
  }

  // Marks each day with changes. A long history is counted in several parts.
  async fill() {
    const today = Math.floor(Date.now() / DAY);
    const read = async (since) => {
      const { counts, next } = await ask(`changes/summary?${ofNetwork(since)}`);
      return next ? [...counts, ...(await read({ since: next }))] : counts;
    };
    this.counts.clear();
    for (const { day, count } of await read()) this.counts.set(day, (this.counts.get(day) ?? 0) + count);
    const days = Array.from(this.counts.keys(), (day) => Date.parse(day) / DAY);
    const first = Math.min(today, ...days);
    // Of a history that began today, there is only the present.
    setFields(this.slider, { min: first, max: today, disabled: first === today });
    byId('days').replaceChildren(...days.map((value) => create('option', { value })));
    this.update();
  }

  // Takes the moment of the picture. A position in the history has no day.
  update() {
    const parameters = this.views.parameters();
    const moment = parameters.get('at') ?? parameters.get('compare');
    const number = Math.ceil(Date.parse(moment) / DAY) - 1;
    this.slider.value = number || this.slider.max;
    this.marks.checked = parameters.has('compare');
    byId('open-time').textContent = moment ? `Time (${number ? dayOf(number) : 'past'})` : 'Time';
    byId('open-time').classList.toggle('is-active', Boolean(moment));
    this.describe();
  }

  describe() {
    const { slider, counts } = this;
    const day = dayOf(slider.value);
    const text = slider.value === slider.max ? 'Now' : `End of ${day} (UTC), ${plural(counts.get(day) ?? 0, 'change')}`;
    byId('day-text').textContent = slider.ariaValueText = text;
  }

  choose() {
    const { views, slider, marks } = this;
    const isNow = slider.value === slider.max;
    views.permalink.set('day', isNow ? [views.isPast && 'now'] : [dayOf(slider.value), marks.checked && 'since']);
    views.mark();
    clearTimeout(this.timer);
    // The server makes one picture of the past at a time for a reader.
    this.timer = setTimeout(() => {
      this.turn = this.turn.then(() => views.load());
    }, DAY_REST_MILLISECONDS);
  }

  // The fragment of the address counts more than its query.
  apply(parameters) {
    const [day, since] = this.views.permalink.list('day');
    if (!day) return;
    for (const name of ['at', 'compare']) parameters.delete(name);
    const end = Date.parse(day) / DAY + 1;
    if (end) parameters.set(since ? 'compare' : 'at', `${dayOf(end)}T00:00:00Z`);
  }
}
