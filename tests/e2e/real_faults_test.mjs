// What goes wrong between a page and a real `ebb serve`: an act on what has changed, a permission that is gone, a drain, a second
// tab, addresses that were sent to a colleague, another base path, and names that are attacks. No test waits for a time.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, before, beforeEach, afterEach, test } from 'node:test';
import { AXE, launch, RULES, settled, SIZES, violationsOf, watch } from './browser.mjs';
import { startForeign } from './foreign.mjs';
import { startReal } from './real.mjs';

let real;
let browser;
let page;
let faults;
before(async () => {
  real = await startReal();
  browser = await launch();
  const login = await browser.context.newPage();
  await login.goto(real.login);
  await settled(login);
  await login.close();
});
after(async () => {
  await browser?.close();
  await real?.close();
});
beforeEach(async () => {
  page = await browser.context.newPage();
  // The browser itself logs each request that fails, here on purpose.
  faults = await watch(page, real.origin, [/Failed to load resource/]);
});
afterEach(async () => {
  assert.deepEqual(faults, []);
  await page.close();
});

const button = (name) => page.getByRole('button', { name, exact: true });
const status = (text, on = page) => on.locator('main .status', { hasText: text }).first();
const isLive = (on = page) => on.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
async function open(path, on = page) {
  await on.goto(real.address + path);
  await settled(on);
}
let n = 0;
/** An order that waits for its decision. */
async function order(more = {}) {
  const key = more.key ?? `SO-${100 + ++n}`;
  const id = await real.order({ order: key, amount: 5, ...more.input }, key);
  await real.until(id, real.waits('decision'));
  return { id, key };
}

test('an act on what has changed does nothing, and says what happened in the meantime', async () => {
  const { id } = await order();
  await open(`instances/${id}`);
  await button('Cancel…').click();
  // Not before: the page may look again at any time, and would then see the change.
  await page.route(/\/cancel$/, async (route) => {
    await real.api('POST', `/instances/${id}/pause`, { reason: 'bank is down' });
    await route.continue();
  });
  await button('Cancel and undo 2 steps').click();
  const notice = page.getByRole('dialog').getByRole('alert');
  await notice.getByText('The instance has changed meanwhile.').waitFor();
  await notice.locator('.status', { hasText: 'paused' }).waitFor();
  await notice.locator('li', { hasText: 'paused' }).waitFor();
  assert.equal((await real.api('GET', `/instances/${id}`)).status, 'paused');
});

test('a permission that is lost in the middle: the sheet says so and keeps what was typed, and the act is offered no more', async () => {
  const { id } = await order();
  const mine = await browser.context.cookies();
  try {
    await open(`instances/${id}`);
    await button('Cancel…').click();
    await page.getByRole('dialog').getByLabel('Reason').fill('ordered twice');
    await page.route(/\/cancel$/, async (route) => {
      const secret = new URL(real.link('viewer')).hash.split('login=')[1];
      const answer = await fetch(`${real.address}api/v1/session`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ login: secret }) });
      const [name, value] = answer.headers.getSetCookie()[0].split(';')[0].split(/=(.*)/s);
      await browser.context.clearCookies();
      await browser.context.addCookies([{ ...mine.find((one) => one.name === name), value }]);
      // The request of the page already has its cookie; this one takes that of the viewer.
      const headers = { ...route.request().headers(), cookie: `${name}=${value}` };
      await route.fulfill({ response: await route.fetch({ headers }) });
    });
    await button('Cancel and undo 2 steps').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    assert.equal(await page.getByRole('dialog').getByLabel('Reason').inputValue(), 'ordered twice');
    await page.keyboard.press('Escape');
    await button('Cancel…').waitFor({ state: 'detached' });
    assert.equal((await real.api('GET', `/instances/${id}`)).status, 'running');
  } finally {
    await browser.context.clearCookies();
    await browser.context.addCookies(mine);
  }
});

test('two tabs share one stream; when the first is closed, the second goes on', async () => {
  const [one, two] = [await order(), await order()];
  const second = await browser.context.newPage();
  const streams = { first: 0, second: 0 };
  const isStream = (request) => new URL(request.url()).pathname.endsWith('/events');
  page.on('request', (request) => isStream(request) && (streams.first += 1));
  second.on('request', (request) => isStream(request) && (streams.second += 1));
  await open(`instances/${one.id}`);
  await isLive();
  await open(`instances/${two.id}`, second);
  await isLive(second);
  assert.ok(streams.first > 0);
  assert.equal(streams.second, 0, 'the second tab hears what the first one does');
  await real.api('POST', `/instances/${two.id}/pause`, {});
  await status('paused', second).waitFor();
  const first = page;
  page = second;
  await first.close();
  await second.waitForRequest(isStream, { timeout: 60_000 }).catch(() => assert.ok(streams.second > 0, 'the second tab has no stream of its own'));
  await real.api('POST', `/instances/${two.id}/resume`, {});
  await status('running', second).waitFor();
});

test('an address leads to the same view: a filter, an event, a step, two versions', async () => {
  const { id, key } = await order();
  await open(`instances?q=workflow:order%20key:${key}`);
  assert.equal(await page.locator('tbody tr').count(), 1);
  await open(`instances/${id}?tab=history&seq=2`);
  await page.getByRole('heading', { name: 'Event 2' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Event 2' }).waitFor();
  await open(`instances/${id}?tab=graph&step=charge`);
  await page.locator('aside.panel h2', { hasText: 'charge' }).waitFor();
  await open(`instances/key:order/${encodeURIComponent(key)}`).catch(() => {});
  await open('workflows/order?tab=versions');
  await page.getByRole('link', { name: 'v1' }).waitFor();
  await open('nowhere/at/all');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
});

test('a rehearsal plays the draft on the real kernel: what would be undone, in which order, and what would stay', async () => {
  await open('build/order?rehearse=1');
  await page.getByLabel('Input of the instance').fill('{"order": "SO-1", "amount": 5}');
  await page.locator('.rehearsal .status', { hasText: 'completed' }).first().waitFor();
  await page.getByLabel('How ship ends', { exact: true }).selectOption('fails for good');
  await page.getByText('charge → reserve').waitFor();
  await page.locator('svg .node.s-failed', { hasText: 'ship' }).waitFor();
  await page.getByLabel('How undoing reserve ends', { exact: true }).selectOption('fails for good');
  await page.locator('.rehearsal .status', { hasText: 'dead letter' }).first().waitFor();
  await page.getByText('What these steps did stays: reserve').waitFor();
  await page.getByLabel('How approve ends', { exact: true }).selectOption('nobody decides');
  await page.locator('.rehearsal .status', { hasText: 'waiting' }).first().waitFor();
  assert.equal((await real.api('GET', '/instances?limit=200')).items.filter((row) => row.key === null).length, 0, 'nothing was started');
  await page.evaluate(() => localStorage.clear());
});

test('names and payloads that are attacks are text everywhere', async () => {
  const key = '<img src=x onerror=alert(1)>';
  const { id } = await order({ key, input: { note: '"><script>alert(2)</script>', __proto__x: '${7*7}' } });
  for (const path of ['', 'instances', `instances/${id}`, `instances/${id}?tab=graph`, `instances/${id}?tab=data`, `instances/${id}?tab=history&seq=1`, 'decisions', `instances?q=${encodeURIComponent(`key:"${key}"`)}`]) {
    await open(path);
    assert.equal(await page.evaluate(() => document.querySelectorAll('main img, main script, main iframe').length), 0, path);
  }
  await open('instances');
  await page.getByText(key).first().waitFor();
});

test('a server that is stopped says so, and the page is as before when it is back', async () => {
  const { id } = await order();
  await open(`instances/${id}`);
  await isLive();
  await button('Cancel…').click();
  const act = button('Cancel and undo 2 steps');
  assert.ok(await act.isEnabled());
  await real.stop();
  await page.locator('.banner.warn').waitFor();
  assert.ok(await act.isDisabled());
  await status('running').waitFor();
  await real.restart();
  await page.locator('.banner.warn').waitFor({ state: 'detached' });
  await isLive();
  await act.click();
  await status('cancelled').waitFor();
});

test('a page of another origin can neither act nor read, nor frame the UI', async () => {
  const { id } = await order();
  const foreign = await startForeign(real.address, id);
  const other = await browser.context.newPage();
  try {
    // The browser has the session's cookie, and 127.0.0.1 on another port is the same site: only the origin differs.
    await other.goto(`${foreign.address}attack`);
    const tried = await other.evaluate(() => globalThis.attack());
    for (const [way, how] of Object.entries(tried)) assert.ok(['refused', 'unreadable'].includes(how), `${way}: ${how}`);
    await other.goto(`${foreign.address}form`);
    await other.getByRole('button').click();
    await other.waitForLoadState();
    assert.match(await other.content(), /csrf_refused|unsupported_media_type/);
    await other.goto(`${foreign.address}frame`);
    const [, framed] = other.frames();
    assert.match(framed.url(), /^chrome-error:/, 'the browser shows its own page in place of the UI');
  } finally {
    await other.close();
    await foreign.close();
  }
  const view = await real.api('GET', `/instances/${id}`);
  assert.equal(view.status, 'running');
  assert.deepEqual((await real.api('GET', `/instances/${id}/history?type=cancel_requested,abort_requested,paused`)).items, []);
});

test('with the keyboard alone: from the list to an instance, through its tabs, to a cancel with its reason', async () => {
  const { id, key } = await order();
  await open('instances');
  await page.keyboard.press('/');
  await page.keyboard.type(`key:${key}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=key/);
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(id));
  await page.getByRole('tab', { name: 'Timeline' }).waitFor();
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main', 'the keyboard begins with the new page');
  // Each stop is visible, and none is a trap.
  const stops = await tabThrough();
  for (const name of ['Timeline', 'Cancel…', 'Confirm', 'Reject']) assert.ok(stops.some((one) => one.name === name), `${name} is not reached: ${stops.map((one) => one.name).join(' | ')}`);
  assert.deepEqual(stops.filter((one) => !one.isVisible), []);
  await tabTo('Timeline');
  await page.keyboard.press('ArrowRight');
  await page.waitForURL(/tab=steps/);
  await page.keyboard.press('End');
  await page.waitForURL(/tab=raw/);
  await tabTo('Cancel…');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  const inside = await tabThrough('dialog');
  assert.ok(inside.some((one) => one.name === 'Reason'), 'the sheet has the focus');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await nameOfFocus(), 'Cancel…', 'the focus is back where it was');
  await page.keyboard.press('Enter');
  await tabTo('Reason');
  await page.keyboard.type('by keys');
  await page.keyboard.press('Enter');
  await status('cancelled').waitFor();
});

/** The name of what has the focus. */
const nameOfFocus = () => page.evaluate(() => {
  const one = document.activeElement;
  const label = one.labels?.[0]?.innerText;
  return (one.getAttribute('aria-label') ?? label ?? one.innerText ?? '').trim().split('\n')[0];
});
/** Presses Tab until the focus is where it began, or outside of `within`; what it met. */
async function tabThrough(within = 'body') {
  const met = [];
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press('Tab');
    const one = await page.evaluate((within) => {
      const focused = document.activeElement;
      if (!focused || focused === document.body) return null;
      focused.dataset.met = String(Number(focused.dataset.met ?? 0) + 1);
      const style = getComputedStyle(focused);
      const box = focused.getBoundingClientRect();
      const label = focused.labels?.[0]?.innerText;
      const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
      const around = focused.closest(':focus-within:not(:focus)');
      return { name: (focused.getAttribute('aria-label') ?? label ?? focused.innerText ?? '').trim().split('\n')[0], times: Number(focused.dataset.met), isInside: !!focused.closest(within), isVisible: box.width > 0 && box.height > 0 && (ring || (around && getComputedStyle(around).outlineStyle !== 'none')) };
    }, within);
    if (!one || one.times > 1) break;
    met.push(one);
  }
  await page.evaluate(() => document.querySelectorAll('[data-met]').forEach((one) => delete one.dataset.met));
  assert.ok(met.every((one) => one.isInside), `the focus leaves ${within}`);
  return met;
}
async function tabTo(name) {
  for (let i = 0; i < 200; ++i) {
    if ((await nameOfFocus()) === name) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${name} is not reached by Tab`);
}

test('a phone: the inbox, the decision, and the instance fit, and the decision is made', async () => {
  const { id, key } = await order();
  await page.setViewportSize(SIZES.phone);
  await open('decisions');
  await page.locator('.item', { hasText: key }).click();
  await page.locator('.card').getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('dialog').getByLabel('Comment').fill('on the way');
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm', exact: true }).click();
  await real.until(id, real.waits('signal'));
  for (const path of ['', 'instances', `instances/${id}`, `instances/${id}?tab=related`, 'failures', 'workflows/order?tab=retention', 'notifications']) {
    await open(path);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, path);
  }
});

test('zoomed to 400 %, every page is one column without scrolling sideways', async () => {
  const { id } = await order();
  // A window of 1,280 pixels that is zoomed four times has so many.
  await page.setViewportSize({ width: 320, height: 256 });
  for (const path of ['', 'instances', `instances/${id}`, `instances/${id}?tab=steps`, `instances/${id}?tab=data`, 'failures', 'decisions', 'workflows', 'workflows/order', 'workers', 'queues', 'bulk', 'docs', 'settings', 'notifications']) {
    await open(path);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, path);
  }
});

test('an instance is printed as a report: its state, its reason and its timeline, without navigation and buttons', async () => {
  const { id, key } = await order();
  await open(`instances/${id}`);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  assert.equal(await page.locator('nav').first().isVisible(), false);
  for (const one of await page.locator('main button.button').all()) assert.equal(await one.isVisible(), false, await one.innerText());
  await page.getByRole('heading', { name: new RegExp(key) }).waitFor();
  await page.getByText('waits for the role boss').waitFor();
  assert.ok(await page.locator('.timeline .span').first().isVisible());
  const paper = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(paper, 'rgb(255, 255, 255)', 'ink on white paper, also of a dark page');
  assert.ok((await page.pdf()).length > 1000);
});

test('the page of the login has no finding, in light and dark, and says what is wrong with a link', async () => {
  const stranger = await launch();
  try {
    const login = await stranger.context.newPage();
    await login.addInitScript({ path: AXE });
    for (const [colorScheme, size] of [['light', 'desktop'], ['dark', 'phone']]) {
      await login.emulateMedia({ colorScheme });
      await login.setViewportSize(SIZES[size]);
      await login.goto(`${real.address}instances`);
      await login.getByRole('heading', { name: 'Log in' }).waitFor();
      assert.deepEqual(await violationsOf(login, RULES), [], colorScheme);
    }
    await login.getByLabel('Login link').fill(`${real.address}#login=none`);
    await login.getByRole('button', { name: 'Log in' }).click();
    await login.getByRole('alert').waitFor();
    assert.ok(!new URL(login.url()).hash.includes('login'), 'no secret stays in the address');
  } finally {
    await stranger.close();
  }
});

test('a server that is killed under an open history: no event is missing and none is there twice when it is back', async () => {
  const { id } = await order();
  await open(`instances/${id}?tab=history`);
  await isLive();
  await page.locator('.event').first().waitFor();
  for (let i = 0; i < 2; ++i) {
    await real.kill();
    await page.locator('.banner.warn').waitFor();
    await real.restart();
    await real.api('POST', `/instances/${id}/${i ? 'resume' : 'pause'}`, {});
  }
  await real.api('POST', `/instances/${id}/abort`, {});
  await status('aborted').waitFor();
  const all = (await real.api('GET', `/instances/${id}/history?limit=1000`)).items;
  await page.locator(`#event-${all.length}`).waitFor();
  const shown = await page.locator('.event').evaluateAll((rows) => rows.map((row) => [Number(row.id.slice('event-'.length)), row.querySelector('.type').innerText.trim()]));
  assert.deepEqual(shown.sort((a, b) => a[0] - b[0]), all.map((event) => [event.seq, event.type]));
});

test('everything works below another base path, and an address survives a reload there', async () => {
  const { id } = await order();
  await real.stop();
  await real.restart(['--base-path', '/tools/ebb']);
  try {
    const below = `${real.origin}/tools/ebb/`;
    await browser.context.clearCookies();
    await page.goto(real.loginNow());
    await settled(page);
    await page.getByRole('link', { name: 'Instances', exact: true }).click();
    await page.waitForURL(`${below}instances`);
    await page.locator('tbody tr').first().waitFor();
    await page.goto(`${below}instances/${id}?tab=history`);
    await page.locator('.event').first().waitFor();
    await page.reload();
    await page.locator('.event').first().waitFor();
    await isLive();
  } finally {
    await page.goto('about:blank');
    await real.stop();
    await real.restart();
  }
});
