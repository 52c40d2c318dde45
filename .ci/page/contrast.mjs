// The contrast of text in pictures, computed: axe does not look at the text of SVG.

import { expect, SCHEMES, visit } from './browser.mjs';

const LEAST = 4.5;

export async function checkContrast(browser, address, context = {}) {
  let lowest = Infinity;
  for (const colorScheme of SCHEMES) {
    const both = await visit(browser, address, async (page) => {
      const found = await page.evaluate(lowestContrast);
      await page.evaluate(() => document.querySelectorAll('.nodes > .node, .containers > *').forEach((part) => part.classList.add('stale')));
      return [found, await page.evaluate(lowestContrast)];
    }, { colorScheme, ...context });
    for (const [found, state] of [[both[0], ''], [both[1], ' stale']]) {
      expect(found.contrast >= LEAST, `"${found.text}" (${found.name}${state}) has ${found.contrast.toFixed(2)} in ${colorScheme}`);
      lowest = Math.min(lowest, found.contrast);
    }
  }
  return `at least ${lowest.toFixed(1)}`;
}

// Runs in the page: the text with the lowest contrast to the shape under it, with what is faded.
function lowestContrast() {
  const parse = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return { rgb: [red, green, blue], alpha };
  };
  const over = ({ rgb, alpha }, ground) => rgb.map((part, place) => part * alpha + ground[place] * (1 - alpha));
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const fill = (element, ground) => {
    const style = getComputedStyle(element);
    const color = parse(style.fill);
    return over({ rgb: color.rgb, alpha: color.alpha * Number(style.fillOpacity) * Number(style.opacity) }, ground);
  };
  const page = fill(document.querySelector('.topology > .ground'), [255, 255, 255]);
  let lowest = { contrast: Infinity };
  for (const text of document.querySelectorAll('#canvas > .topology text')) {
    const shape = text.parentElement.querySelector(':scope > .card:last-of-type, :scope > .frame');
    const ground = shape ? fill(shape, page) : page;
    const [one, other] = [luminance(fill(text, ground)), luminance(ground)];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < lowest.contrast) lowest = { contrast, text: text.textContent, name: text.getAttribute('class') };
  }
  return lowest;
}
