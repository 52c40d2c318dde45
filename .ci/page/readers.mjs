// Gives the exported files of a running server to programs that read them: Graphviz, Mermaid, and the XML reader of Chromium.
// Some hosts get names that are markup, quotes, control characters and more in the formats.
//
//     node readers.mjs URL KEY NETWORK
//
// Prints a line for each file and exits with 1 when a program refuses one.

import { readFile } from 'node:fs/promises';

import { instance } from '@viz-js/viz';

import { expect, launch } from './browser.mjs';

// The script of the package `mermaid`, without the two hundred packages that are only needed to build it.
const MERMAID = new URL('mermaid.min.js', import.meta.url);
const VIEWS = ['l2', 'l3', 'workloads'];
const NAMES = [
  '</text></svg><script>alert(1)</script>',
  '" onload="alert(1)',
  '\'];end;subgraph x["y"]',
  'a\nb\r\nc\td\u0085e\u2028f',
  '\0\u0001\b\u000b\u001f\u007f\u009f\ufffe\uffff',
  '\u202egnp.exe\u200f\u2066',
  'back\\slash \\N \\G \\" \\',
  '&amp; &lt; &#60; #lt; #quot; &bogus; &#0;',
  '%%{init: {"theme": "dark"}}%%',
  ']]><![CDATA[',
  '```\n<!-- -->',
  'style x:#fff; click n call alert()',
  'graph { a -- b }',
  'end',
  '$$x^2$$ **bold** `code` [a](javascript:alert(1))',
  '1. item\n- item',
  '👩‍👩‍👧‍👧 e\u0301\u0301 \u{10ffff}',
  'x'.repeat(10_000),
  '\u0301'.repeat(10_000),
  '"'.repeat(10_000),
];

const [url, key, network] = process.argv.slice(2);
if (!network) {
  console.error('usage: readers.mjs URL KEY NETWORK');
  process.exit(2);
}

async function ask(method, path, body) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  expect(response.ok, `${method} ${path} answers ${response.status}: ${text.slice(0, 300)}`);
  return text;
}

// Adds hosts with these names in every field, each with a link to the one before.
async function addHosts() {
  let before = null;
  for (const name of NAMES) {
    const entry = { if_index: 1, if_name: name, if_descr: name, if_alias: name };
    const text = { name, hostname: name, description: name, sys_name: name, sys_descr: name, sys_location: name };
    const host = JSON.parse(await ask('POST', '/api/v1/hosts', { network_id: network, ...text, if_entries: [entry] })).data;
    const end = { host_id: host.id, if_entry_id: host.if_entries[0].id };
    if (before) await ask('POST', '/api/v1/topology/links', { network_id: network, source: before, target: end });
    before = end;
  }
}

const readers = {
  dot: readDot,
  mermaid: readMermaid,
  svg: readXml,
  graphml: readXml,
  drawio: readDrawIo,
};

async function readDot(page, text) {
  const graphviz = await instance();
  const { status, errors } = graphviz.render(text, { format: 'svg', engine: 'dot' });
  // Fonts of this build have no widths for most of Unicode.
  const problems = errors.map(({ message }) => message).filter((message) => !message.includes('no value for width'));
  expect(status === 'success' && !problems.length, problems.join('; '));
}

async function readMermaid(page, text) {
  const drawn = await page.evaluate(async (diagram) => {
    // The default limits are 500 edges and 50,000 characters.
    window.mermaid.initialize({ startOnLoad: false, maxEdges: 100_000, maxTextSize: 10_000_000 });
    return (await window.mermaid.render('diagram', diagram)).svg;
  }, text);
  const alien = await page.evaluate((svg) => {
    const root = new DOMParser().parseFromString(svg, 'text/html');
    return Array.from(root.querySelectorAll('script, [onload], b, strong, code, a, li'), (part) => part.outerHTML.slice(0, 200));
  }, drawn);
  expect(!alien.length, `names became markup: ${alien.slice(0, 3).join(' ')}`);
}

async function readXml(page, text) {
  const problem = await page.evaluate((xml) => {
    const root = new DOMParser().parseFromString(xml, 'application/xml');
    return root.querySelector('parsererror')?.textContent ?? root.querySelector('script')?.outerHTML ?? '';
  }, text);
  expect(!problem, problem);
}

// Cells of draw.io refer to each other.
async function readDrawIo(page, text) {
  await readXml(page, text);
  const missing = await page.evaluate((xml) => {
    const cells = Array.from(new DOMParser().parseFromString(xml, 'application/xml').querySelectorAll('mxCell'));
    const ids = new Set(cells.map((cell) => cell.id));
    const names = cells.flatMap((cell) => ['parent', 'source', 'target'].map((name) => cell.getAttribute(name)));
    return ids.size === cells.length ? names.filter((name) => name && !ids.has(name)) : ['a second cell with the same id'];
  }, text);
  expect(!missing.length, `there is no cell ${missing[0]}`);
}

await addHosts();
const browser = await launch();
const page = await browser.newPage();
await page.addScriptTag({ content: await readFile(MERMAID, 'utf8') });
let failures = 0;
for (const view of VIEWS) {
  for (const [format, read] of Object.entries(readers)) {
    const text = await ask('GET', `/api/v1/topology/export?network_id=${network}&view=${view}&format=${format}`);
    try {
      await read(page, text);
      console.log(`ok      ${format} of ${view} (${text.length} characters)`);
    } catch (error) {
      failures += 1;
      console.log(`FAILED  ${format} of ${view}: ${error.message.slice(0, 1000)}`);
    }
  }
}
await browser.close();
process.exit(failures ? 1 : 0);
