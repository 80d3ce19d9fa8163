// The UI on a store of a real size: a million instances, a definition of 10,000 nodes, a list that follows new rows as
// fast as they come, and a history of thousands of events. It takes minutes, so only `./dev test e2e_slow` runs it.
// EBB_E2E_INSTANCES is another number of instances.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, settled, watch } from './browser.mjs';
import { startReal } from './real.mjs';

const INSTANCES = Number(process.env.EBB_E2E_INSTANCES ?? 1_000_000);
const BATCH = 10_000;
const NODES = 10_000;
const WRITES = 2_000;
const NEW_ROWS = 500;
const WAIT = 'workflow: wait\nsteps:\n  - signal: go\n';
const RARE = 'workflow: rare\nsteps:\n  - signal: go\n';
const TALLY = `
workflow: tally
rules:
  attributes:
    n: {type: integer, default: 0, external: true}
  triggers:
    never: {when: n < 0, do: count_down, writes: [n]}
  final:
    done: n > 1000000
  on_idle: wait
handlers:
  count_down: {exec: [cat]}
`;

/** Blocks of parallel branches, one below the other, as JSON. */
function huge() {
  const steps = [];
  let made = 0;
  for (let block = 0; made + 101 <= NODES; ++block) {
    const branches = {};
    for (let b = 0; b < 10; ++b) branches[`b${b}`] = Array.from({ length: 10 }, (_, i) => ({ step: `s${block}_${b}_${i}`, handler: 'none', compensate: 'undo' }));
    steps.push({ parallel: `p${block}`, branches });
    made += 101;
  }
  return { workflow: 'huge', version: 1, steps };
}

let real;
let browser;
let page;
let faults;
let rare;
before(async () => {
  real = await startReal({ workflows: { wait: WAIT, rare: RARE, tally: TALLY }, args: ['--no-worker', '--requests-per-second', '0'] });
  // The oldest of all: a filter that no index serves finds it last.
  rare = (await real.api('POST', '/instances', { workflow: 'rare', key: 'needle', labels: { tenant: 'acme' } })).id;
  const lines = '{}\n'.repeat(BATCH);
  for (let made = 0; made < INSTANCES; made += BATCH) await real.api('POST', '/instances/batch?workflow=wait', lines, 'application/x-ndjson');
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

const button = (name) => page.getByRole('button', { name, exact: true });
async function open(path) {
  await page.goto(real.address + path);
  await settled(page);
}
const few = async () => assert.ok((await page.locator('tbody tr').count()) < 400, 'the page has only what was read');

test('the list shows its first page and its number, and goes on as one scrolls', async () => {
  await open('instances');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 50);
  const { total } = await real.api('GET', '/instances?count=exact&limit=1');
  assert.equal(total, INSTANCES + 1);
  await page.locator('.page-head').getByText(total.toLocaleString('en'), { exact: true }).waitFor();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 100);
  await few();
});

test('what an index finds is there at once: a key, a label, the beginning of an id', async () => {
  for (const filter of ['workflow:rare key:needle', 'label:tenant=acme']) {
    await open(`instances?q=${encodeURIComponent(filter)}`);
    await page.locator('tbody tr', { hasText: 'needle' }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1, filter);
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Find or go to' }).fill('needle');
  await page.getByRole('option', { name: 'needle' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(rare));
});

test('what no index finds is looked for page by page, the page says how far it has come, and finds it', async () => {
  await open('instances?q=workflow:rare');
  await page.locator('tbody tr', { hasText: 'needle' }).waitFor();
  assert.equal(await page.locator('tbody tr').count(), 1);
  await page.getByText('1 instance, no more').waitFor();
});

test('the overview, the workflows and the failures need no list of all instances', async () => {
  await open('');
  await page.locator('.tile', { hasText: 'running' }).getByText((INSTANCES + 1).toLocaleString('en'), { exact: true }).waitFor();
  await open('workflows');
  await page.locator('tbody tr', { hasText: 'wait' }).getByText(INSTANCES.toLocaleString('en')).first().waitFor();
  await open('failures');
  await page.getByText('No failures.').waitFor();
  await open('decisions');
  await page.getByText('Nothing waits for a decision.').waitFor();
});

test('an act on all of them says how many they are before it begins, and is ended in its middle', async () => {
  await open('instances?q=workflow:wait');
  await button('Act on all…').click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel('Action', { exact: true }).selectOption('Pause');
  await sheet.getByText(/[\d,]+ match now/).waitFor();
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
});

test('a definition of 10,000 nodes is drawn, walked through as a list, and found in the builder', async () => {
  await real.api('POST', '/workflows', huge());
  await open('workflows/huge');
  await page.locator('.area canvas, .area svg .node').first().waitFor();
  assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) < 3000, 'only what is seen is in the page');
  await page.locator('.area').hover();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -1200);
  await page.keyboard.up('Control');
  await page.locator('.area svg .node').first().waitFor();
  assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) < 3000);
  const id = (await real.api('POST', '/instances', { workflow: 'huge', input: {} })).id;
  await open(`instances/${id}?tab=graph`);
  await page.locator('.area canvas, .area svg .node').first().waitFor();
  await open(`instances/${id}?tab=steps`);
  await page.locator('tbody tr').first().waitFor();
});

test('new rows as fast as they can be started: the list follows, and in the end no row is missing', async () => {
  await open('instances?q=workflow:rare');
  await page.locator('tbody tr', { hasText: 'needle' }).waitFor();
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  for (let made = 0; made < NEW_ROWS; made += 10) await real.api('POST', '/instances/batch?workflow=rare', '{}\n'.repeat(10), 'application/x-ndjson');
  const { items } = await real.api('GET', '/instances?workflow=rare&limit=1');
  await page.waitForFunction((id) => document.querySelector('tbody tr a')?.getAttribute('href').endsWith(id), items[0].id);
  await few();
});

test('a history of thousands of events: its end is shown, an event has an address, and few of them are in the page', async () => {
  const id = (await real.api('POST', '/instances', { workflow: 'tally', input: {} })).id;
  for (let n = 1; n <= WRITES; ++n) await real.api('POST', `/instances/${id}/write`, { values: { n } });
  await open(`instances/${id}?tab=history&seq=${WRITES / 2}`);
  await page.getByRole('heading', { name: `Event ${WRITES / 2}` }).waitFor();
  await button('To the end').click();
  const { items } = await real.api('GET', `/instances/${id}/history?order=backward&limit=1`);
  assert.ok(items[0].seq >= WRITES);
  await page.locator(`#event-${items[0].seq}`).waitFor();
  assert.ok((await page.locator('.event').count()) < 120);
  assert.deepEqual(faults, []);
});
