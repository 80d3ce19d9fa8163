// All parts of the UI in all their states on one page, in light and dark, at desk and phone size: no finding of axe-core, no error
// on the console, no violation of the Content-Security-Policy, nothing wider than the page.
import './packages.mjs';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AXE, launch, SIZES, startMock, violationsOf, watch } from './browser.mjs';

const UI = fileURLToPath(new URL('../../ui/', import.meta.url));
const require = createRequire(new URL('../../ui/package.json', import.meta.url));
let folder;
let browser;
let server;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ebb-gallery-'));
  const { build } = await import(pathToFileURL(join(require.resolve('vite/package.json'), '../dist/node/index.js')));
  await build({ root: UI, configFile: join(UI, 'vite.config.ts'), logLevel: 'error', build: { outDir: folder, rollupOptions: { input: join(UI, 'gallery/index.html') } } });
  [server, browser] = await Promise.all([startMock({ assets: folder }), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const [theme, size] of [['light', 'desktop'], ['dark', 'desktop'], ['light', 'phone'], ['dark', 'phone']]) {
  test(`every part is clean: ${theme}, ${size}`, async () => {
    const page = await browser.context.newPage();
    await page.setViewportSize(SIZES[size]);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    const faults = await watch(page, new URL(server.address).origin);
    await page.addInitScript({ path: AXE });
    await page.goto(`${server.address}gallery/index.html`);
    await page.getByRole('heading', { level: 1, name: 'Gallery' }).waitFor();
    await page.locator('.area svg .node').first().waitFor();
    assert.deepEqual(await violationsOf(page), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, 'too wide');
    const moving = await page.evaluate(() => document.getAnimations().filter((one) => one.playState === 'running' && one.effect.getComputedTiming().duration > 1).length);
    assert.equal(moving, 0, 'who wants no motion has none');
    await page.locator('summary', { hasText: 'Columns' }).click();
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Sheet…' }).click();
    assert.deepEqual(await violationsOf(page), []);
    assert.deepEqual(faults, []);
    await page.close();
  });
}
