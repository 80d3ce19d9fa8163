// Five pictures that are compared with those in tests/e2e/looks: the layout, the colors and the signs, in a font of our own, at a
// fixed time. At most 0.5 % of the pixels may differ. EBB_APPROVE=1 (`./dev ui approve`) makes them again. What differs is
// written to the folder of EBB_LOOKS_OUT. A version of Chromium may draw a line elsewhere, so only `./dev test e2e_slow` runs it.
import './packages.mjs';
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ASSETS, launch, pagesOf, settled, SIZES, startMock } from './browser.mjs';
import { boxFont } from './box_font.mjs';

const FOLDER = fileURLToPath(new URL('./looks/', import.meta.url));
const OUT = process.env.EBB_LOOKS_OUT;
const APPROVES = process.env.EBB_APPROVE === '1';
const MOST = 0.005;
/** Of a color's channel, which may be blended in another way at an edge. */
const NEAR = 24;
const NOW = Date.UTC(2030, 0, 15, 10, 30);
const LOOKS = {
  overview: ['overview', 'light', SIZES.desktop],
  'instance.dark': ['instance-timeline', 'dark', SIZES.desktop],
  'graph': ['instance-graph', 'light', SIZES.desktop],
  'decisions.phone': ['decisions', 'light', SIZES.phone],
  'failures.dark': ['failures-group', 'dark', SIZES.desktop],
};

let browser;
let mock;
const RealDate = Date;
before(async () => {
  // The stand-in of the server is in this process: its data is as old as it was when the pictures were made.
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length ? given : [NOW]));
    }

    static now() {
      return NOW;
    }
  };
  mock = await startMock({ assets: ASSETS });
  browser = await launch('en-US', { bypassCSP: true });
});
after(async () => {
  await browser?.close();
  await mock?.close();
  globalThis.Date = RealDate;
});

const FONT = `data:font/ttf;base64,${boxFont().toString('base64')}`;
const STYLE = `@font-face { font-family: Boxes; src: url(${FONT}); }
:root { --sans: Boxes !important; --mono: Boxes !important; }
*, *::before, *::after { font-family: Boxes !important; caret-color: transparent !important; animation: none !important; transition: none !important; }`;

async function picture([name, colorScheme, size]) {
  const page = await browser.context.newPage();
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.clock.setFixedTime(NOW);
  await page.goto(mock.address + pagesOf(mock.world)[name]);
  await settled(page);
  await page.addStyleTag({ content: STYLE });
  assert.deepEqual(await page.evaluate(async () => {
    await document.fonts.load('14px Boxes', 'aж✓');
    return [...document.fonts].filter((font) => font.family === 'Boxes').map((font) => font.status);
  }), ['loaded'], 'the font is one');
  await settled(page);
  const bytes = await page.screenshot({ animations: 'disabled' });
  await page.close();
  return bytes;
}

/** The part of the pixels that differ; the browser decodes the pictures. */
async function difference(one, other) {
  const page = await browser.context.newPage();
  try {
    return await page.evaluate(async ([pictures, near]) => {
      const pixels = await Promise.all(pictures.map(async (base64) => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const pen = canvas.getContext('2d');
        pen.drawImage(bitmap, 0, 0);
        return pen.getImageData(0, 0, bitmap.width, bitmap.height);
      }));
      const [a, b] = pixels;
      if (a.width !== b.width || a.height !== b.height) return 1;
      let count = 0;
      for (let at = 0; at < a.data.length; at += 4) if ([0, 1, 2].some((i) => Math.abs(a.data[at + i] - b.data[at + i]) > near)) count += 1;
      return count / (a.width * a.height);
    }, [[one, other].map((bytes) => bytes.toString('base64')), NEAR]);
  } finally {
    await page.close();
  }
}

for (const [name, look] of Object.entries(LOOKS)) {
  test(`looks as before: ${name}`, async () => {
    const found = await picture(look);
    const file = join(FOLDER, `${name}.png`);
    if (APPROVES) {
      mkdirSync(FOLDER, { recursive: true });
      return writeFileSync(file, found);
    }
    const part = existsSync(file) ? await difference(found, readFileSync(file)) : 1;
    if (part > MOST && OUT) {
      mkdirSync(OUT, { recursive: true });
      writeFileSync(join(OUT, `${name}.png`), found);
    }
    assert.ok(part <= MOST, `${(100 * part).toFixed(2)} % of the pixels differ`);
  });
}

test('another page is another picture, and the same one is the same', async () => {
  const [one, again, other] = [await picture(LOOKS.overview), await picture(LOOKS.overview), await picture(['instances', 'light', SIZES.desktop])];
  assert.equal(await difference(one, again), 0);
  assert.ok((await difference(one, other)) > MOST);
  if (!APPROVES) assert.deepEqual(readdirSync(FOLDER).sort(), Object.keys(LOOKS).map((name) => `${name}.png`).sort());
});
