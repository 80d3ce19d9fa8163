// The UI against a real `ebb serve` with much in it: 1,000,000 instances, a workflow of 10,000 nodes, and a list in which
// instances begin faster than a person can read. No test waits for a time; each waits for what it means.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { launch, settled, watch } from './browser.mjs';
import { startReal } from './real.mjs';

const MANY = 1_000_000;
const NODES = 10_000;
const DOM_MAX = 3000;
/** As many as begin in ten seconds at 100 a second; they begin as fast as the server takes them. */
const BATCHES = 100;
const IN_BATCH = 10;

let real;
let browser;
let page;
let faults;
before(async () => {
  real = await startReal();
  await real.stop();
  real.fillTables(MANY);
  await real.restart();
  browser = await launch();
  page = await browser.context.newPage();
  faults = await watch(page, real.origin);
  await page.goto(real.loginNow());
  await settled(page);
});
after(async () => {
  await browser?.close();
  await real?.close();
});
afterEach(() => assert.deepEqual(faults.splice(0), []));

async function open(path) {
  await page.goto(real.address + path);
  await settled(page);
}
const rows = () => page.locator('tbody tr');
const nodesOfPage = () => page.evaluate(() => document.querySelectorAll('*').length);

test('among 1,000,000 instances, a list begins with the newest and goes on as one scrolls', async () => {
  await open('instances');
  await rows().first().getByText(`order-${MANY}`).waitFor();
  const before = await rows().count();
  await rows().last().scrollIntoViewIfNeeded();
  await page.waitForFunction((count) => document.querySelectorAll('tbody tr').length > count, before);
  assert.ok((await nodesOfPage()) <= DOM_MAX);
});

test('a filter finds few among 1,000,000, and a key is found at once', async () => {
  await open('instances?q=status:failed%20workflow:w0');
  await rows().first().locator('.status', { hasText: 'failed' }).waitFor();
  await open(`instances?q=key:order-${MANY / 2}`);
  await rows().first().getByText(`order-${MANY / 2}`).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill(`order-${MANY / 2}`);
  await page.getByRole('option', { name: `order-${MANY / 2}` }).first().waitFor();
});

test('the overview, and 100,000 failures in groups', async () => {
  await open('');
  await page.locator('.tile', { hasText: 'failed' }).first().waitFor();
  await open('failures');
  await page.getByText('card_declined').first().waitFor();
  assert.ok((await nodesOfPage()) <= DOM_MAX);
});

test('a workflow of 10,000 nodes is shown, and its text is there', async () => {
  const steps = [];
  for (let block = 0, made = 0; made + 101 <= NODES; ++block, made += 101) {
    const branches = {};
    for (let b = 0; b < 10; ++b) branches[`b${b}`] = Array.from({ length: 10 }, (_, i) => ({ step: `s${block}_${b}_${i}` }));
    steps.push({ parallel: `p${block}`, branches });
  }
  await real.api('POST', '/workflows', { workflow: 'huge', steps });
  await open('workflows/huge');
  await page.locator('.area canvas, .area svg .node').first().waitFor();
  assert.ok((await nodesOfPage()) <= DOM_MAX);
  await open('workflows/huge?tab=yaml');
  await page.locator('.cm-content').getByText('s0_0_0').first().waitFor();
  const { id } = await real.api('POST', '/instances', { workflow: 'huge', input: {} });
  await open(`instances/${id}?tab=graph`);
  await page.locator('.area canvas, .area svg .node').first().waitFor();
});

test('a list follows 1,000 instances that begin one after the other, and misses none of the newest', async () => {
  await real.api('POST', '/workflows', { workflow: 'parked', steps: [{ signal: 'go' }] });
  await open('instances?q=workflow:parked');
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  await page.evaluate(() => {
    globalThis.longest = 0;
    let last = performance.now();
    const frame = (now) => {
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const start = (key) => real.api('POST', '/instances', { workflow: 'parked', input: {}, key });
  for (let batch = 0; batch < BATCHES; ++batch) {
    await Promise.all(Array.from({ length: IN_BATCH }, (_, i) => start(`LIVE-${batch}-${i}`)));
  }
  const { items } = await real.api('GET', '/instances?workflow=parked&limit=20');
  const newest = items.map((one) => one.key);
  await page.waitForFunction((keys) => {
    const cells = [...document.querySelectorAll('tbody tr')].slice(0, keys.length).map((row) => row.querySelector('td.mono[title]')?.textContent);
    return cells.join() === keys.join();
  }, newest);
  // How long frames took is a figure (./dev bench ui) and not a test: this machine may be busy.
  console.log(`# the longest frame took ${Math.round(await page.evaluate(() => globalThis.longest))} ms`);
});
