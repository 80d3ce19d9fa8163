// The UI against a real `ebb serve`: a login by link, every page with real data, what people do, live rows, a person who may
// only look, and a server that is killed under an open page. No test waits for a time; each waits for what it means.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AXE, launch, settled, violationsOf, watch } from './browser.mjs';
import { pagesOfLife, startReal } from './real.mjs';

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
  // The script of axe is a tool of the test; it runs in every frame before the page's policy is there.
  await page.addInitScript({ path: AXE });
  // While the server is away, the browser itself logs each request that fails; a spent link is refused on purpose.
  faults = await watch(page, real.origin, [/Failed to load resource/]);
});
after(async () => {
  await browser?.close();
  await real?.close();
});

const button = (name) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const status = (text) => page.locator('main .status', { hasText: text }).first();
async function open(path) {
  await page.goto(real.address + path);
  await settled(page);
}

test('a login link logs in once', async () => {
  await page.goto(real.login);
  await settled(page);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.equal(new URL(page.url()).hash, '', 'the secret does not stay in the address');
  const other = await fetch(`${real.address}api/v1/session`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ login: real.login.split('#login=')[1] }) });
  assert.equal(other.status, 401);
});

test('every page shows real data without a finding', async () => {
  const problems = [];
  for (const [name, path] of Object.entries(pagesOfLife(life))) {
    await open(path);
    const found = { wide: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), violations: await violationsOf(page) };
    if (found.wide > 0) problems.push(`${name}: ${found.wide} pixels too wide`);
    for (const fault of [...found.violations, ...faults.splice(0)]) problems.push(`${name}: ${fault}`);
  }
  assert.deepEqual(problems, []);
});

test('a cancel says what it will undo, and undoes it', async () => {
  await open(`instances/${life.waiting}`);
  await button('Cancel…').click();
  assert.deepEqual(await dialog().locator('ol.undo code').allInnerTexts(), ['refund', 'release']);
  await dialog().getByLabel('Reason').fill('ordered twice');
  await button('Cancel and undo 2 steps').click();
  await status('cancelled').waitFor();
  const events = (await real.api('GET', `/instances/${life.waiting}/history`)).items;
  assert.equal(events.find((event) => event.type === 'cancel_requested').payload.reason, 'ordered twice');
  assert.equal(events.filter((event) => event.type === 'step_compensated').length, 2);
});

test('a decision is confirmed in the inbox, and leaves it', async () => {
  await open('decisions');
  const waiting = await page.locator('.inbox .item').count();
  await page.locator('.inbox .item', { hasText: 'SO-5' }).click();
  await page.locator('.card').getByRole('button', { name: 'Confirm' }).click();
  await dialog().getByLabel('Comment').fill('fine');
  await dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.waitForFunction((count) => document.querySelectorAll('.inbox .item').length === count - 1, waiting);
  await real.until(life.inbox[0], real.waits('signal'));
});

test('a dead letter is retried with another input and completes', async () => {
  await open(`instances/${life.dead[0]}`);
  await button('Retry from here…').click();
  await page.getByLabel('Retry with another input').check();
  await page.getByLabel('Input', { exact: true }).fill('{"file": "good"}');
  await button('Retry from here').click();
  await status('completed').waitFor();
  await real.until(life.dead[0], (view) => view.status === 'completed');
});

test('an act on all that match is done by the server, and the page follows it', async () => {
  const ids = [];
  for (const n of [1, 2, 3]) ids.push(await real.order({ order: `MANY-${n}`, amount: n }, `MANY-${n}`));
  for (const id of ids) await real.until(id, real.waits('decision'));
  await open('instances?q=key:MANY-*');
  await button('Act on all…').click();
  await dialog().getByLabel('Action', { exact: true }).selectOption('Pause');
  await dialog().getByText('3 match now').waitFor();
  await dialog().getByLabel('Reason').fill('stock count');
  await dialog().getByRole('button', { name: 'Pause 3 instances' }).click();
  await page.waitForURL(/bulk\/[0-9a-f-]{36}$/);
  await status('completed').waitFor();
  await page.getByText('3 of 3').waitFor();
  for (const id of ids) assert.equal((await real.api('GET', `/instances/${id}`)).status, 'paused');
  const [paused] = (await real.api('GET', `/instances/${ids[0]}/history?type=paused`)).items;
  assert.match(paused.payload.by, / \(bulk [0-9a-f-]{36}\)$/);
  await open('bulk');
  await page.getByRole('link', { name: 'Pause', exact: true }).first().waitFor();
});

test('an instance is started by the form of its input schema', async () => {
  await open('workflows/order');
  await button('Start…').click();
  await page.getByLabel('Order number').fill('SO-77');
  await page.getByLabel('Amount').fill('12.5');
  await button('Start').click();
  await page.waitForURL(/instances\/[0-9a-f-]{36}/);
  const id = page.url().match(/[0-9a-f-]{36}/)[0];
  const view = await real.until(id, real.waits('decision'));
  assert.deepEqual(view.input, { order: 'SO-77', amount: 12.5 });
});

test('a new version is made in the builder, and its comments stay', async () => {
  await open('build/order');
  await page.locator('svg .node', { hasText: 'charge' }).first().click();
  await page.getByLabel('queue', { exact: true }).fill('bank');
  await page.getByLabel('queue', { exact: true }).press('Enter');
  const text = page.locator('.cm-content');
  await text.getByText('queue: bank').waitFor();
  // The version is in the text only where it is not 1.
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('# reviewed by ann\nversion: 2\n');
  await page.getByText('No problems.').waitFor();
  await page.waitForFunction(() => ![...document.querySelectorAll('button')].find((one) => one.textContent === 'Register')?.disabled);
  await button('Register').click();
  await page.waitForURL(/workflows\/order\?version=2/);
  const { definition } = await real.api('GET', '/workflows/order/versions/2');
  assert.equal(definition.steps.find((one) => one.step === 'charge').queue, 'bank');
});

test('the figures of the overview are those of all workflows together', async () => {
  const { items } = await real.api('GET', '/workflows');
  const sums = {};
  for (const { instances_of_all_versions: counts } of items) for (const [status, count] of Object.entries(counts)) sums[status] = (sums[status] ?? 0) + count;
  assert.ok(items.filter((one) => one.instances_of_all_versions.completed).length > 1, 'two workflows have instances of one status');
  assert.deepEqual((await real.api('GET', '/stats')).instances, sums);
  await open('');
  await page.locator('.tile', { hasText: 'completed' }).getByText(String(sums.completed), { exact: true }).waitFor();
});

test('the page of an instance follows what happens to it', async () => {
  await open(`instances/${life.signal}`);
  await status('running').waitFor();
  await real.api('POST', `/instances/${life.signal}/signal`, { name: 'paid', payload: {} });
  await status('completed').waitFor();
});

test('a server that is killed: the page stays, and shows what happened when it is back', async () => {
  const id = life.inbox[1];
  await open(`instances/${id}`);
  await status('running').waitFor();
  await real.kill();
  await page.getByRole('status').filter({ hasText: 'The server does not answer.' }).waitFor();
  await status('running').waitFor();
  await real.restart();
  await real.api('POST', `/instances/${id}/abort`, { reason: 'after the crash' });
  await status('aborted').waitFor();
  await page.getByRole('status').filter({ hasText: 'The server does not answer.' }).waitFor({ state: 'detached' });
  // What the browser logs of the requests that failed is not a fault of the page.
  faults.splice(0);
});

test('a project, a grant and the audit: what was done is in it, and the browser finds its chain unbroken', async () => {
  await open('settings?tab=projects');
  await button('New project…').click();
  await dialog().getByLabel('Name').fill('shop');
  await dialog().getByLabel('Workflows').fill('order*');
  await button('Create the project').click();
  await page.locator('tbody tr', { hasText: 'shop' }).waitFor();
  await open('settings?tab=grants');
  await button('New grant…').click();
  await dialog().getByLabel('Who', { exact: true }).fill('joão');
  await dialog().getByLabel('Role', { exact: true }).selectOption('operator');
  await dialog().getByLabel('Project').selectOption('shop');
  await dialog().getByText('joão gets the role operator in shop (order*).').waitFor();
  await button('Create the grant').click();
  await page.locator('tbody tr', { hasText: 'joão' }).waitFor();
  await open('settings?tab=audit');
  await page.locator('[role=option]', { hasText: 'putGrant' }).waitFor();
  await page.getByText(/Chain of hashes unbroken in the \d+ rows? shown/).waitFor();
  assert.deepEqual(faults, []);
});

test('a webhook to an address that is not allowed: the ping is a delivery that can be looked at', async () => {
  await open('notifications');
  await button('New webhook…').first().click();
  await dialog().getByLabel('Name').fill('ops');
  await dialog().getByLabel('To', { exact: true }).fill('http://127.0.0.1:9/ebb');
  await button('Create the webhook').click();
  await page.getByText('This is the secret of ops.').waitFor();
  await page.getByRole('link', { name: 'ops', exact: true }).click();
  await button('Send a ping').click();
  await dialog().locator('.deliveries li').first().waitFor();
  assert.deepEqual(faults, []);
});

test('an act on what has changed meanwhile says what happened and who did it', async () => {
  const id = await real.order({ order: 'SO-412', amount: 3 }, 'k412');
  await open(`instances/${id}`);
  await status('running').waitFor();
  await button('Abort…').click();
  await page.route(/\/abort$/, async (route) => {
    await real.api('POST', `/instances/${id}/pause`, { reason: 'wait' });
    return route.continue();
  });
  await button('Abort without undoing').click();
  await page.getByRole('alert').locator('li', { hasText: 'paused' }).getByText('token:test').waitFor();
  await page.unroute(/\/abort$/);
});

test('a person who may only look sees no act', async () => {
  await browser.context.clearCookies();
  await page.goto(real.link('viewer'));
  await settled(page);
  const id = await real.order({ order: 'SO-8', amount: 8 }, 'SO-8');
  await real.until(id, real.waits('decision'));
  await open(`instances/${id}`);
  await page.getByText('waits for the role boss').waitFor();
  for (const name of ['Cancel…', 'Abort…', 'Pause', 'Confirm', 'Start again…']) assert.equal(await button(name).count(), 0, name);
  assert.deepEqual(faults, []);
});
