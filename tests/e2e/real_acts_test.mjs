// What people do to a real `ebb serve` besides what real_test.mjs does: the other acts on an instance, limits, tokens, the
// configuration, and what a page of another origin cannot do. No test waits for a time.
import './packages.mjs';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { launch, settled, watch } from './browser.mjs';
import { startReal } from './real.mjs';

let real;
let life;
let browser;
let page;
let faults;
before(async () => {
  real = await startReal();
  life = await real.fill();
  browser = await launch();
  page = await browser.context.newPage();
  faults = await watch(page, real.origin, [/Failed to load resource/]);
  await page.goto(real.login);
  await settled(page);
});
after(async () => {
  await browser?.close();
  await real?.close();
});
afterEach(() => assert.deepEqual(faults.splice(0), []));

const button = (name) => page.getByRole('button', { name, exact: true });
const sheet = () => page.getByRole('dialog');
const inSheet = (name) => sheet().getByRole('button', { name, exact: true });
const status = (text) => page.locator('main .status', { hasText: text }).first();
const row = (text) => page.locator('tbody tr', { hasText: text });
let n = 0;
async function open(path) {
  await page.goto(real.address + path);
  await settled(page);
}
/** An order that waits for its decision; its page is open. */
async function openOrder() {
  const key = `ACT-${++n}`;
  const id = await real.order({ order: key, amount: n }, key);
  await real.until(id, real.waits('decision'));
  await open(`instances/${id}`);
  return { id, key };
}
const eventsOf = async (id) => (await real.api('GET', `/instances/${id}/history`)).items;

test('an instance is paused and resumed, and the history says by whom and why', async () => {
  const { id } = await openOrder();
  await button('Pause').click();
  await sheet().getByLabel('Reason').fill('stock count');
  await inSheet('Pause').click();
  await status('paused').waitFor();
  await button('Resume').click();
  await inSheet('Resume').click();
  await status('running').waitFor();
  const paused = (await eventsOf(id)).find((event) => event.type === 'paused');
  assert.equal(paused.payload.reason, 'stock count');
  assert.ok(paused.payload.by);
});

test('a decision is rejected: what was done is undone', async () => {
  const { id } = await openOrder();
  await button('Reject').click();
  await sheet().getByLabel('Comment').fill('too dear');
  await inSheet('Reject').click();
  await status('failed').waitFor();
  const undone = (await eventsOf(id)).filter((event) => event.type === 'step_compensated').map((event) => event.node);
  assert.deepEqual(undone, ['charge', 'reserve']);
});

test('a signal is sent with its payload', async () => {
  await open(`instances/${life.signal}`);
  await button('Send signal…').click();
  assert.equal(await sheet().getByLabel('Signal').inputValue(), 'paid');
  await sheet().getByLabel('Payload').fill('{"by": "card"}');
  await inSheet('Send signal').click();
  await status('completed').waitFor();
});

test('an instance is aborted: nothing is undone, and the sheet says so before', async () => {
  const { id } = await openOrder();
  await button('Abort…').click();
  await sheet().getByText('What these steps did stays as it is: charge, reserve.').waitFor();
  await inSheet('Abort without undoing').click();
  await status('aborted').waitFor();
  assert.deepEqual((await eventsOf(id)).filter((event) => event.type === 'step_compensated'), []);
});

test('an instance is started again with the input of one that has ended', async () => {
  await open(`instances/${life.completed}`);
  await button('Start again…').click();
  await sheet().getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL((url) => /instances\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.includes(life.completed));
  const id = page.url().match(/[0-9a-f-]{36}/)[0];
  assert.deepEqual((await real.api('GET', `/instances/${id}`)).input, { order: 'SO-4', amount: 7 });
});

test('limits of a queue are set in place', async () => {
  await real.api('PUT', '/queues/bank', { concurrency: 2 });
  await open('queues');
  await button('Limits of bank').click();
  await page.getByLabel('At once', { exact: true }).fill('8');
  await button('Set limits').click();
  await row('bank').getByRole('img', { name: '0 of 8 in use' }).waitFor();
  const { items } = await real.api('GET', '/queues');
  assert.equal(items.find((queue) => queue.name === 'bank').concurrency, 8);
});

test('a token is shown once, works, and is refused when it is revoked', async () => {
  await open('settings?tab=tokens');
  await button('New token…').click();
  await sheet().getByLabel('Token').fill('nightly');
  await inSheet('Create token').click();
  await page.getByText('This is the token. It is shown only now.').waitFor();
  const token = await page.locator('.notice code').innerText();
  const ask = () => fetch(`${real.address}api/v1/me`, { headers: { authorization: `Bearer ${token}` } }).then((answer) => answer.status);
  assert.equal(await ask(), 200);
  await page.reload();
  await settled(page);
  assert.equal(await page.getByText(token).count(), 0);
  await row('nightly').getByRole('button').click();
  await sheet().getByRole('button', { name: /^Revoke/ }).click();
  await row('nightly').waitFor({ state: 'detached' });
  assert.equal(await ask(), 401);
});

test('the configuration shows what the command line and the environment have set', async () => {
  await open('settings?tab=config');
  assert.match(await row('listen').first().innerText(), /127\.0\.0\.1:0[\s\S]*command line/);
  await page.getByRole('heading', { name: /^Defaults/ }).waitFor();
  await row('max_connections').waitFor();
});

test('the page of a bulk operation follows it while it acts slowly', async () => {
  for (const each of [1, 2]) await real.until(await real.order({ order: `SLOW-${each}`, amount: 1 }, `SLOW-${each}`), real.waits('decision'));
  const { id } = await real.api('POST', '/bulk', { action: 'pause', where: 'key.startsWith("SLOW-")', rate: '1/1m' });
  await open(`bulk/${id}`);
  await page.getByText('1 of 2').waitFor();
  await button('End it here').click();
  await status('cancelled').waitFor();
});

test('a page of another origin can neither act nor read, though the browser sends the cookie', async () => {
  const { id } = await openOrder();
  const target = `${real.address}api/v1/instances/${id}/abort`;
  const evil = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<form method="post" enctype="text/plain" action="${target}"><input name='{"reason":"' value='"}'><button>Win</button></form>`);
  });
  await new Promise((resolve) => evil.listen(0, '127.0.0.1', resolve));
  const other = await browser.context.newPage();
  try {
    await other.goto(`http://127.0.0.1:${evil.address().port}/`);
    const read = await other.evaluate((url) => fetch(url, { credentials: 'include' }).then(() => 'read', () => 'refused'), `${real.address}api/v1/me`);
    assert.equal(read, 'refused');
    const sent = other.waitForResponse(target);
    await other.evaluate((url) => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).catch(() => undefined), target);
    assert.equal((await sent).status(), 403);
    const posted = other.waitForResponse(target);
    await other.getByRole('button', { name: 'Win' }).click();
    assert.equal((await posted).status(), 403);
  } finally {
    await other.close();
    evil.closeAllConnections();
    await new Promise((resolve) => evil.close(resolve));
  }
  assert.equal((await real.api('GET', `/instances/${id}`)).status, 'running');
});
