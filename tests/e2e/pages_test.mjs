// Every page, in light and dark, at desk, folded and phone size, with sample data and with hostile names: no finding of
// axe-core (WCAG 2.2 AA), no error on the console, no violation of the Content-Security-Policy, no foreign request, no
// scrolling sideways.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ASSETS, AXE, launch, pagesOf, settled, SIZES, startMock, watch } from './browser.mjs';

const RULES = { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] } };
let browser;
let mock;
let hostile;
let empty;
before(async () => {
  [mock, hostile, empty, browser] = await Promise.all([startMock({ assets: ASSETS }), startMock({ assets: ASSETS, hostile: true }), startMock({ assets: ASSETS, empty: true }), launch()]);
});
after(() => Promise.all([browser?.close(), mock?.close(), hostile?.close(), empty?.close()]));

async function visit(page, address, name, path, faults) {
  await page.goto(address + path);
  await settled(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
  assert.deepEqual(faults.splice(0), [], name);
}

async function axe(page, name) {
  const violations = await page.evaluate(async (rules) => {
    const { violations } = await globalThis.axe.run(document, rules);
    return violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.failureSummary?.split('\n')[1]?.trim()})`).join('; ')}`);
  }, RULES);
  assert.deepEqual(violations, [], name);
}

async function newPage(address, colorScheme, viewport) {
  const page = await browser.context.newPage();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  // A page that does not exist is asked for on purpose.
  const faults = await watch(page, new URL(address).origin, [/404/]);
  // The script of axe is a tool of the test; it runs in every frame before the page's policy is there.
  await page.addInitScript({ path: AXE });
  return { page, faults };
}

for (const [theme, size] of [['light', 'desktop'], ['dark', 'desktop'], ['light', 'folded'], ['light', 'phone'], ['dark', 'phone']]) {
  test(`pages are clean: ${theme}, ${size}`, async () => {
    const { page, faults } = await newPage(mock.address, theme, SIZES[size]);
    const problems = [];
    for (const [name, path] of Object.entries(pagesOf(mock.world))) {
      try {
        await visit(page, mock.address, name, path, faults);
        await axe(page, name);
      } catch (error) {
        problems.push(`${name}: ${JSON.stringify(error.actual ?? error.message)}`);
      }
    }
    await page.close();
    assert.deepEqual(problems, []);
  });
}

test('hostile names and payloads are text on every page', async () => {
  const { page, faults } = await newPage(hostile.address, 'light', SIZES.desktop);
  for (const [name, path] of Object.entries(pagesOf(hostile.world))) {
    await visit(page, hostile.address, name, path, faults);
    const markup = await page.evaluate(() => document.querySelectorAll('main img, main script, main iframe').length);
    assert.equal(markup, 0, `${name}: a name became markup`);
  }
  await page.goto(hostile.address + 'instances');
  await settled(page);
  await page.getByText('<img src=x', { exact: false }).first().waitFor();
  await page.close();
});

test('an empty server says on every page what would be here', async () => {
  const { page, faults } = await newPage(empty.address, 'light', SIZES.desktop);
  for (const path of ['', 'instances', 'failures', 'decisions', 'workflows', 'workers', 'queues']) {
    await visit(page, empty.address, path, path, faults);
    const text = await page.locator('main').innerText();
    assert.match(text, /No |Nothing|All quiet/, path);
  }
  await page.close();
});
