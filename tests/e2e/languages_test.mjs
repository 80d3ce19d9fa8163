// The languages of the UI in Chromium: chosen by the browser and on the settings page, each from one chunk, and every page
// has room for their words.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ASSETS, drawn, launch, pagesOf, settled, SIZES, startMock, watch } from './browser.mjs';
import { messagesOf } from './messages.mjs';

let mock;
const browsers = {};
before(async () => {
  mock = await startMock({ assets: ASSETS });
});
after(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  await mock?.close();
});

async function newPage(locale) {
  browsers[locale] ??= await launch(locale);
  const page = await browsers[locale].context.newPage();
  const faults = await watch(page, new URL(mock.address).origin, [/404/]);
  const chunks = [];
  page.on('request', (request) => chunks.push(.../\/(en|de|pt|ru)\.[\w-]+\.js$/.exec(request.url())?.slice(1) ?? []));
  return { page, faults, chunks };
}
const heading = (page, text) => page.getByRole('heading', { level: 1, name: text }).waitFor();
const langOf = (page) => page.evaluate(() => document.documentElement.lang);

test('a browser in Portuguese loads Portuguese and no other language', async () => {
  const { page, chunks } = await newPage('pt-PT');
  await page.goto(`${mock.address}instances`);
  await heading(page, 'Instâncias');
  assert.equal(await langOf(page), 'pt-BR');
  assert.deepEqual(chunks, ['pt']);
});

test('the settings page changes the language at once and without a reload; the last choice counts and is kept', async () => {
  const { page, faults, chunks } = await newPage('en-US');
  await page.goto(`${mock.address}settings`);
  await heading(page, 'Settings');
  await page.evaluate(() => (globalThis.is_same_page = true));
  const language = page.locator('#locale');
  assert.equal(await language.inputValue(), '');
  await language.selectOption('ru');
  await heading(page, 'Настройки');
  await page.waitForFunction(() => document.title.startsWith('Настройки'));
  assert.equal(await langOf(page), 'ru');
  // German comes later than Portuguese, which was chosen after it.
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(/\/de\.[\w-]+\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  const german = page.waitForRequest(/\/de\.[\w-]+\.js$/);
  await language.selectOption('de');
  await german;
  await language.selectOption('pt');
  await heading(page, 'Configurações');
  const arrived = page.waitForResponse(/\/de\.[\w-]+\.js$/);
  release();
  await (await arrived).finished();
  // The import of the same file ends after the page's own, so what German would have changed has happened.
  await page.evaluate((url) => import(url), (await arrived).url());
  await heading(page, 'Configurações');
  assert.equal(await langOf(page), 'pt-BR');
  assert.equal(await page.evaluate(() => globalThis.is_same_page), true);
  assert.deepEqual(chunks.filter((one) => one !== 'de'), ['en', 'ru', 'pt']);
  await page.reload();
  await heading(page, 'Configurações');
  await language.selectOption('');
  await heading(page, 'Settings');
  assert.deepEqual(faults, []);
});

/** What is wider than its place: no element whose text runs out of it, unless it scrolls or cuts it off with a "…".
 * A table that scrolls, and the line of acts on a phone, reach into the gutter on purpose. */
const overflows = (page) => page.evaluate(() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page');
  for (const element of document.querySelectorAll('nav *, .top *, main *, dialog *')) {
    const style = getComputedStyle(element);
    if (style.display === 'inline' || style.overflowX !== 'visible' || element.closest('svg, .visually-hidden, .timeline, .cm-editor') || element.querySelector('.table-scroll, .acts') || element.scrollWidth <= element.clientWidth + 1) continue;
    if ([...element.children].some((child) => child.scrollWidth > child.clientWidth + 1 && getComputedStyle(child).display !== 'inline')) continue;
    found.push(`${element.tagName.toLowerCase()}.${element.className} "${element.textContent.trim().slice(0, 40)}" ${element.scrollWidth} in ${element.clientWidth}`);
  }
  return found;
});

for (const locale of ['de', 'pt', 'ru']) {
  test(`the words fit on every page: ${locale}`, async () => {
    const t = await messagesOf(locale);
    const { page, faults } = await newPage(locale);
    const problems = [];
    const sheets = { 'instance-waiting': [t.act.cancel.name, t.act.confirm.name, t.act.signal.name], 'instance-dead': [t.act.requeue.name], workflow: [t.start.button],
      'settings-grants': [t.grants.fresh, t.grants.editOf('ben-operator')], 'settings-projects': [t.projects.fresh, t.projects.editOf('billing')], 'settings-tokens': [t.settings.newToken], 'settings-sessions': [t.sessions.endOthers], notifications: [t.notifications.fresh] };
    for (const [name, path] of Object.entries(pagesOf(mock.world))) {
      for (const act of [undefined, ...(sheets[name] ?? [])]) {
        await page.setViewportSize(SIZES.desktop);
        await page.goto(mock.address + path);
        await settled(page);
        if (act) {
          await page.getByRole('button', { name: act, exact: true }).first().click();
          await page.getByRole('dialog').waitFor();
        }
        // A page is loaded once and then given each size, as a person changes a window.
        for (const [size, viewport] of Object.entries(SIZES)) {
          await page.setViewportSize(viewport);
          await drawn(page);
          for (const one of await overflows(page)) problems.push(`${name}${act ? `, ${act}` : ''} (${size}): ${one}`);
        }
      }
    }
    assert.deepEqual(faults, []);
    assert.deepEqual([...new Set(problems)], []);
  });
}
