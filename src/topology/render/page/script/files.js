const PNG_LIMITS = { scale: 2, side: 8192, pixels: 33_000_000 };

// The picture as the server made it, without what this script added, and without what is filtered or folded.
function pictureFile(network) {
  const copy = network.picture.cloneNode(true);
  copy.classList.remove('has-selection', 'is-distant', 'is-remote');
  for (const part of copy.querySelectorAll('.highlight, .is-hidden')) part.remove();
  return copy;
}

function fileName(extension) {
  const title = document.title.replace(/[^\p{Letter}\p{Number}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 80);
  return `${title || 'network'}.${extension}`;
}

function save(blob, extension) {
  const address = URL.createObjectURL(blob);
  create('a', { href: address, download: fileName(extension) }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const svgBlob = (picture) => new Blob([new XMLSerializer().serializeToString(picture)], { type: 'image/svg+xml' });

async function pngBlob(picture, { width, height }) {
  const { side, pixels } = PNG_LIMITS;
  const scale = Math.min(PNG_LIMITS.scale, side / width, side / height, Math.sqrt(pixels / (width * height)));
  const size = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
  picture.setAttribute('width', size[0]);
  picture.setAttribute('height', size[1]);
  const address = URL.createObjectURL(svgBlob(picture));
  try {
    const image = create('img', { src: address });
    await image.decode();
    const canvas = create('canvas', { width: size[0], height: size[1] });
    const context = canvas.getContext('2d');
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, ...size);
    context.drawImage(image, 0, 0, ...size);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no image'))), 'image/png'));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function connectExport(network, camera) {
  onClick('save-svg', () => save(svgBlob(pictureFile(network)), 'svg'));
  onClick('save-png', async () => {
    try {
      save(await pngBlob(pictureFile(network), camera.box), 'png');
    } catch {
      announce('This browser could not draw the picture. Save it as SVG instead.', true);
    }
  });
}
