// The order of names for people: `sw2` before `sw10`.
const natural = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

const byText = (toText) => (one, other) => natural.compare(toText(one), toText(other));
