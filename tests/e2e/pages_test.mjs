// Every page, in light and dark, at desk, folded and phone size, with sample data and with hostile names: no finding of
// axe-core (WCAG 2.2 AA), no error on the console, no violation of the Content-Security-Policy, no foreign request, no
// scrolling sideways.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ASSETS, AXE, drawn, launch, pagesOf, settled, SIZES, startMock, violationsOf, watch } from './browser.mjs';

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
  const cut = await page.locator('main .acts .button').evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => one.textContent));
  assert.deepEqual(cut, [], `${name}: acts beyond the edge`);
  assert.deepEqual(faults.splice(0), [], name);
}

async function axe(page, name) {
  const violations = await violationsOf(page);
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

// A page is loaded once for a size; its colors follow the system without a reload.
for (const [size, themes] of [['desktop', ['light', 'dark']], ['folded', ['light']], ['phone', ['light', 'dark']]]) {
  test(`pages are clean: ${size}`, async () => {
    const { page, faults } = await newPage(mock.address, themes[0], SIZES[size]);
    const problems = [];
    for (const [name, path] of Object.entries(pagesOf(mock.world))) {
      try {
        await visit(page, mock.address, name, path, faults);
        for (const theme of themes) {
          await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
          await drawn(page);
          await axe(page, `${name}, ${theme}`);
        }
        assert.deepEqual(faults.splice(0), [], name);
      } catch (error) {
        problems.push(`${name}: ${JSON.stringify(error.actual ?? error.message)}`);
      }
    }
    await page.close();
    assert.deepEqual(problems, []);
  });
}

// What opens over a page, and states of a page that have no address.
const OPENED = {
  'a new grant': ['settings?tab=grants', (page) => page.getByRole('button', { name: 'New grant…' }).click()],
  'a change of a grant': ['settings?tab=grants', (page) => page.getByRole('button', { name: 'Change the grant parcels' }).click()],
  'a change of a project': ['settings?tab=projects', (page) => page.getByRole('button', { name: 'Change the project billing' }).click()],
  'a row of the audit': ['settings?tab=audit', (page) => page.locator('[role=option]').nth(4).click({ position: { x: 4, y: 8 } })],
  'a new webhook': ['notifications', (page) => page.getByRole('button', { name: 'New webhook…' }).first().click()],
  'a rehearsal that fails': ['build/order?rehearse=1', async (page) => {
    await page.getByLabel('How ship ends', { exact: true }).selectOption('fails for good');
    await page.getByText('pack → charge → reserve').waitFor();
  }],
  'an act on all': ['instances?q=status:dead_letter', async (page) => {
    await page.getByRole('button', { name: 'Act on all…' }).click();
    await page.getByText('match now').waitFor();
  }],
  'the columns': ['instances', (page) => page.getByText('Columns', { exact: true }).first().click()],
  'a cancel': ['waiting', (page) => page.getByRole('button', { name: 'Cancel…' }).click()],
};
for (const [theme, size] of [['light', 'desktop'], ['dark', 'phone']]) {
  test(`what opens is clean: ${theme}, ${size}`, async () => {
    const { page, faults } = await newPage(mock.address, theme, SIZES[size]);
    const problems = [];
    for (const [name, [path, act]] of Object.entries(OPENED)) {
      try {
        await visit(page, mock.address, name, path === 'waiting' ? pagesOf(mock.world)['instance-waiting'] : path, faults);
        await act(page);
        await axe(page, name);
        assert.deepEqual(faults.splice(0), [], name);
      } catch (error) {
        problems.push(`${name}: ${JSON.stringify(error.actual ?? error.message)}`);
      }
    }
    await page.evaluate(() => localStorage.clear());
    await page.close();
    assert.deepEqual(problems, []);
  });
}

/** What a person would read or hear with a character in it that shows nothing, and how often one is shown by its number. */
const hiddenOn = (page) => page.evaluate(() => {
  const HIDDEN = /[\p{Bidi_Control}\u200B\u2028\u2029\uFEFF\x00-\x08\x0B-\x1F\x7F-\x9F]/u;
  const seen = { hidden: [], shown: 0, places: new Set() };
  const judge = (place, text) => {
    if (HIDDEN.test(text)) seen.hidden.push(`${place}: ${JSON.stringify(text.slice(0, 200))}`);
    if (!/\\u202etxt\.exe\\u2066\\u200b\\u009b/.test(text)) return;
    seen.shown += 1;
    seen.places.add(place);
  };
  const look = (root) => {
    const all = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = all.currentNode; node; node = all.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) judge(node.parentElement?.closest('[role]')?.getAttribute('role') ?? 'text', node.nodeValue);
      for (const name of ['title', 'aria-label', 'placeholder', 'alt', 'label']) judge(name, node.getAttribute?.(name) ?? '');
      if (node.shadowRoot) look(node.shadowRoot);
    }
  };
  look(document);
  judge('document', document.title);
  return { ...seen, places: [...seen.places] };
});

test('hostile names and payloads are text on every page, and every character of them is seen', async () => {
  const { page, faults } = await newPage(hostile.address, 'light', SIZES.desktop);
  const shown = {};
  const places = new Set();
  const judge = async (name) => {
    const found = await hiddenOn(page);
    assert.deepEqual(found.hidden, [], name);
    shown[name] = found.shown;
    found.places.forEach((place) => places.add(place));
  };
  const one = hostile.world.instances.find((row) => row.key?.startsWith('<img') && row.workflow === 'order');
  const own = { 'instance-own': `instances/${one.id}`, 'instance-own-data': `instances/${one.id}?tab=data`, 'instance-own-raw': `instances/${one.id}?tab=raw`, 'instance-own-graph': `instances/${one.id}?tab=graph` };
  for (const [name, path] of Object.entries({ ...pagesOf(hostile.world), ...own })) {
    await visit(page, hostile.address, name, path, faults);
    const markup = await page.evaluate(() => document.querySelectorAll('main img, main script, main iframe').length);
    assert.equal(markup, 0, `${name}: a name became markup`);
    await judge(name);
  }
  for (const name of ['overview', 'instances', 'instance-own', 'instance-own-data', 'instance-own-raw', 'failures', 'failures-group', 'workers', 'queues', 'settings-audit', 'settings-grants', 'notifications']) assert.ok(shown[name] > 0, `${name} shows a hostile name: ${JSON.stringify(shown)}`);
  // What opens over a page.
  await page.goto(hostile.address + 'queues');
  await settled(page);
  await page.getByRole('button', { name: 'Limits for queue <img' }).click();
  await judge('a sheet');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('<img src=x');
  await page.getByRole('option', { name: '<img src=x' }).first().waitFor();
  await judge('the palette');
  assert.ok(shown['a sheet'] > 0 && shown['the palette'] > 0);
  assert.deepEqual(['document', 'title', 'aria-label', 'text'].filter((place) => !places.has(place)), [], 'titles and tooltips, too');
  // What is copied or written stays what it is.
  await page.goto(`${hostile.address}instances?q=${encodeURIComponent('workflow:order')}`);
  await settled(page);
  const field = page.getByRole('combobox', { name: 'Filter' });
  await field.fill('key:a\u202Eb');
  assert.equal(await field.inputValue(), 'key:a\u202Eb');
  await page.close();
});

test('an empty server says on every page what would be here', async () => {
  const { page, faults } = await newPage(empty.address, 'light', SIZES.desktop);
  for (const path of ['', 'instances', 'failures', 'decisions', 'workflows', 'workers', 'queues', 'bulk', 'notifications', 'settings?tab=grants', 'settings?tab=projects', 'settings?tab=tokens', 'settings?tab=sessions', 'settings?tab=audit', 'settings?tab=definitions', 'settings?tab=config']) {
    await visit(page, empty.address, path, path, faults);
    const text = await page.locator('main').innerText();
    assert.match(text, /No |Nothing|All quiet|has no /, path);
  }
  await page.close();
});
