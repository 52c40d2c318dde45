// The behavior of the share page: moves through the picture, explains what is selected, saves files, asks for the password.
// Text reaches the document as text nodes only, so that no name is ever read as markup.

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

const setFields = Object.assign;
const byId = (id) => document.getElementById(id);
const listen = (target, name, action, options) => target.addEventListener(name, action, options);
const notify = (listeners) => listeners.forEach((listener) => listener());
// Connects a button, if the page has it.
const onClick = (id, action) => byId(id) && listen(byId(id), 'click', action);

function create(name, properties = {}, ...children) {
  const created = setFields(document.createElement(name), properties);
  created.append(...children);
  return created;
}

function createSvg(name, attributes = {}) {
  const created = document.createElementNS(SVG_NAMESPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value);
  return created;
}

// A name of the network, in a direction of its own: right-to-left names do not reorder what is beside them.
const nameText = (text) => create('bdi', {}, text);

function button(label, action, properties = {}) {
  const created = create('button', properties, label);
  listen(created, 'click', action);
  return created;
}

// Tells users of screen readers what happened. A notice is shown too, for a while.
let noticeTimer = 0;
function announce(text, isNotice = false) {
  const status = byId('status');
  status.textContent = text;
  status.classList.toggle('unseen', !isNotice);
  clearTimeout(noticeTimer);
  if (isNotice) noticeTimer = setTimeout(() => status.classList.add('unseen'), 5000);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const words = (code) => code.replace(/^x\./, '').replaceAll('_', ' ');
const number = (count) => count.toLocaleString('en');
const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
const time = (timestamp) => (timestamp ? `${timestamp.slice(0, 16).replace('T', ' ')} UTC` : 'unknown');

function speed(bitsPerSecond) {
  const units = [[1e12, 'Tbit/s'], [1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s']];
  const [size, unit] = units.find(([size]) => bitsPerSecond >= size) ?? [1, 'bit/s'];
  return `${Number((bitsPerSecond / size).toFixed(2))} ${unit}`;
}

// Gives an object properties that are computed when they are first read: a page that is only looked at computes none.
function addLazy(object, properties) {
  for (const [name, compute] of Object.entries(properties)) {
    const define = (description) => Object.defineProperty(object, name, { configurable: true, ...description });
    define({
      get() {
        const value = compute();
        define({ value });
        return value;
      },
    });
  }
}

// Runs steps while nothing else is to be done, one at a time, so that no input waits for all of them.
function runWhenIdle([step, ...others]) {
  if (!step) return;
  const wait = window.requestIdleCallback ?? ((action) => setTimeout(action, 50));
  wait(() => {
    step();
    runWhenIdle(others);
  });
}
