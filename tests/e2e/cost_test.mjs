// What a page costs, in numbers that do not depend on the machine: requests, rows, and changes of the document. The times
// themselves are figures (./dev bench ui).
import './packages.mjs';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { ASSETS, launch, settled, startMock, watch } from './browser.mjs';

const PAGE_ROWS = 50;
let browser;
let mock;
let page;
let faults;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
beforeEach(async () => {
  mock = await startMock({ assets: ASSETS });
  page = await browser.context.newPage();
  faults = await watch(page, new URL(mock.address).origin);
});
afterEach(async () => {
  await page.close();
  await mock.close();
});

async function open(path) {
  await page.goto(mock.address + path);
  await settled(page);
}
const isLive = () => page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
/** New instances, the newest of which the mock publishes. */
function add(count) {
  let row;
  for (let i = 0; i < count; ++i) {
    // Each has a time of its own, by which lists are in order.
    row = mock.world.add('order', Date.now() + i, { stop: 'charge' });
    mock.world.instances.unshift(mock.world.instances.pop());
  }
  mock.publish(row);
  return row;
}
const rows = () => page.locator('tbody tr').count();
const idsOf = () => page.locator('tbody tr td a.ink').evaluateAll((all) => all.map((link) => link.getAttribute('href').split('/').pop()));

test('a list that new rows come to keeps its length, and nothing is missing when one reads on', async () => {
  await open('instances');
  await isLive();
  for (let i = 0; i < 20; ++i) {
    const newest = add(10);
    await page.locator(`tbody tr:first-child a[href$="${newest.id}"]`).first().waitFor();
    assert.equal(await rows(), PAGE_ROWS);
  }
  assert.deepEqual(await idsOf(), mock.world.instances.slice(0, PAGE_ROWS).map((row) => row.id));
  await page.locator('tbody tr').last().scrollIntoViewIfNeeded();
  await page.waitForFunction((least) => document.querySelectorAll('tbody tr').length > least, PAGE_ROWS);
  const shown = await idsOf();
  assert.deepEqual(shown, mock.world.instances.slice(0, shown.length).map((row) => row.id), 'no gap where rows were let go');
  assert.deepEqual(faults, []);
});

test('what the overview needs is read once when it opens, and again when something changes', async () => {
  // The time of this page stands still but for what the test gives it.
  await page.clock.install();
  await page.goto(mock.address);
  const read = () => mock.control.requests.filter((one) => /^GET \/(failures\/groups|delayed|unserved|workflows|webhooks|admin\/definitions|stats|decisions|stats\/activity)\b/.test(one)).map((one) => one.replace(/\?.*/, '')).sort();
  const until = async (test) => {
    while (!(await test())) await page.clock.runFor(50);
  };
  await until(() => page.evaluate(() => document.querySelector('.top')?.innerText.includes('live') && !document.querySelector('main .skeleton')));
  // Whatever the stream has begun with is here.
  await until(() => mock.streams.size > 0);
  await page.clock.runFor(1000);
  const all = ['GET /admin/definitions', 'GET /decisions', 'GET /delayed', 'GET /failures/groups', 'GET /stats', 'GET /stats/activity', 'GET /unserved', 'GET /webhooks', 'GET /workflows'];
  assert.deepEqual(read(), all);
  await page.clock.runFor(5000);
  await mock.until(() => all.every((one) => read().filter((other) => other === one).length === 2));
  assert.deepEqual(faults, []);
});

test('a list is drawn once for all that has come since the last frame', async () => {
  await page.addInitScript(() => {
    const meter = (globalThis.meter = { heard: 0, drawn: 0, frames: undefined });
    const Stream = globalThis.EventSource;
    globalThis.EventSource = class extends Stream {
      constructor(address) {
        super(address);
        this.addEventListener('list', () => ++meter.heard);
      }
    };
    const request = globalThis.requestAnimationFrame.bind(globalThis);
    // While `frames` is a list, no frame comes.
    globalThis.requestAnimationFrame = (act) => (meter.frames ? meter.frames.push(act) : request(act));
  });
  await open('instances');
  await isLive();
  await page.waitForFunction(() => globalThis.meter.heard > 0);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.evaluate(() => {
    Object.assign(globalThis.meter, { heard: 0, frames: [] });
    new MutationObserver(() => ++globalThis.meter.drawn).observe(document.querySelector('tbody'), { childList: true });
  });
  const before = await idsOf();
  let newest;
  for (let i = 0; i < 30; ++i) newest = add(1);
  await page.evaluate(() => new Promise((done) => {
    const look = () => (globalThis.meter.heard >= 30 ? done() : setTimeout(look, 10));
    look();
  }));
  assert.deepEqual(await idsOf(), before, 'nothing is drawn before the frame');
  await page.evaluate(() => globalThis.meter.frames.splice(0).forEach((act) => act(performance.now())));
  assert.equal((await idsOf())[0], newest.id);
  assert.equal(await page.evaluate(() => globalThis.meter.drawn), 1);
  assert.deepEqual(faults, []);
});

test('a timeline is drawn a few times for many messages, and ends with the newest event', async () => {
  const row = mock.world.instances.find((one) => one.status === 'running' && one.workflow === 'order' && one.history.some((event) => event.type === 'step_completed'));
  await open(`instances/${row.id}`);
  await isLive();
  const lanes = page.locator('.lanes .lane');
  await lanes.first().waitFor();
  const before = await lanes.count();
  await page.evaluate(() => {
    globalThis.drawn = 0;
    new MutationObserver(() => ++globalThis.drawn).observe(document.querySelector('.lanes'), { childList: true });
  });
  const done = row.history.find((event) => event.type === 'step_completed');
  for (let visit = 101; visit <= 130; ++visit) {
    row.history.push({ ...done, seq: row.history.at(-1).seq + 1, visit });
    mock.publish(row);
  }
  await page.waitForFunction((least) => document.querySelectorAll('.lanes .lane').length >= least, before + 30);
  assert.ok((await page.evaluate(() => globalThis.drawn)) <= 5, 'not once for each message');
  assert.deepEqual(faults, []);
});

/** Drags the picture by one pixel to the left and one up, `count` times, and tells what changed in the document. */
const pan = (count) => page.evaluate(async (count) => {
  const area = document.querySelector('.area');
  const { left, top } = area.getBoundingClientRect();
  const seen = { moves: 0, others: 0, nodes: 0 };
  const look = (records) => {
    for (const { type, target, addedNodes, removedNodes } of records) {
      if (type === 'attributes') ++seen[target.classList.contains('layer') ? 'moves' : 'others'];
      else seen.nodes += addedNodes.length + removedNodes.length;
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(area, { subtree: true, childList: true, attributes: true });
  const send = (target, type, i) => target.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, clientX: left + 300 - i, clientY: top + 200 - i }));
  send(area, 'pointerdown', 0);
  for (let i = 1; i <= count; ++i) {
    send(area, 'pointermove', i);
    await new Promise((done) => requestAnimationFrame(done));
  }
  send(globalThis, 'pointerup', count);
  look(observer.takeRecords());
  observer.disconnect();
  return seen;
}, count);

async function openHuge(steps) {
  const huge = { workflow: 'huge', version: 1, steps };
  mock.world.definitions.push(huge);
  mock.world.byName.set('huge', huge);
  await open('workflows/huge');
}
const branchesOf = (block, of) => Object.fromEntries(Array.from({ length: 10 }, (_, b) => [`b${b}`, Array.from({ length: of }, (_, i) => ({ step: `s${block}_${b}_${i}` }))]));

test('a pan moves the picture as it is, and draws only what comes near', async () => {
  await openHuge(Array.from({ length: 8 }, (_, block) => ({ parallel: `p${block}`, branches: branchesOf(block, 5) })));
  await page.locator('.area svg .node').first().waitFor();
  const drawn = await page.locator('.area svg *').count();
  const seen = await pan(60);
  assert.ok(seen.moves >= 55, `the layer moves with the pointer: ${JSON.stringify(seen)}`);
  assert.equal(seen.others, 0, 'what is drawn stays as it is');
  // In each direction an edge of what is drawn is passed once at most.
  assert.ok(seen.nodes < drawn / 2, `${seen.nodes} of ${drawn} came or went`);
  assert.deepEqual(faults, []);
});

test('a pan of a picture of thousands of nodes paints it again only now and then', async () => {
  await openHuge(Array.from({ length: 30 }, (_, block) => ({ parallel: `p${block}`, branches: branchesOf(block, 10) })));
  await page.locator('.area').focus();
  for (let i = 0; i < 12 && !(await page.locator('.area canvas').count()); ++i) await page.keyboard.press('-');
  await page.locator('.area canvas').waitFor();
  const seen = await pan(60);
  assert.ok(seen.moves >= 55, JSON.stringify(seen));
  // Its place and its size, in two directions.
  assert.ok(seen.others <= 12, JSON.stringify(seen));
  assert.deepEqual(faults, []);
});

test('the overview begins with four files, its words and first answers come beside the program, and each is asked for once', async () => {
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  let go;
  const held = new Promise((done) => (go = done));
  await page.route(/\/assets\/app\.[^/]*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  const opening = page.goto(mock.address);
  // The program waits: what does not need it is on its way.
  await mock.until(() => mock.control.requests.includes('GET /me') && mock.control.requests.includes('GET /'));
  while (!asked.some((path) => /\/assets\/en\./.test(path))) await page.waitForRequest(/\/assets\/en\./);
  go();
  await opening;
  await settled(page);
  const files = asked.filter((path) => path.includes('/assets/')).map((path) => path.replace(/^.*\/assets\/(\w+)\..*\.(\w+)$/, '$1.$2'));
  assert.deepEqual(files.sort(), ['app.css', 'app.js', 'en.js', 'first.js']);
  for (const path of ['/me', '/', '/failures/groups?status=dead_letter', '/unserved']) {
    const before_the_stream = mock.control.requests.slice(0, mock.control.requests.findIndex((one) => one.startsWith('GET /events')) >>> 0);
    assert.equal(before_the_stream.filter((one) => one === `GET ${path}`).length, 1, path);
  }
  assert.deepEqual(faults, []);
});

test('a page opens one stream, with all its topics', async () => {
  const [row] = mock.world.instances;
  const pages = [
    ['', ['failures']],
    ['workers', ['workers']],
    ['instances', [/^list:/]],
    [`instances/${row.id}`, [new RegExp(`^instance:${row.id}@[1-9]`)]],
  ];
  for (const [path, own] of pages) {
    mock.control.requests.length = 0;
    await open(path);
    await isLive();
    const streams = mock.control.requests.filter((one) => one.startsWith('GET /events'));
    const topics = new URLSearchParams(streams[0].split('?')[1]).getAll('topic');
    for (const topic of ['decisions', 'stats', ...own]) {
      assert.ok(topics.some((one) => (topic instanceof RegExp ? topic.test(one) : topic === one)), `${path} ${topic}: ${topics}`);
    }
    assert.equal(streams.length, 1, `${path}: ${streams}`);
  }
  assert.deepEqual(faults, []);
});

test('the file of another page comes beside the words', async () => {
  let go;
  const held = new Promise((done) => (go = done));
  await page.route(/\/assets\/en\.[^/]*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest(/\/assets\/Instances\.[^/]*\.js$/);
  const opening = page.goto(`${mock.address}instances`);
  await asked;
  go();
  await opening;
  await settled(page);
  assert.equal(await rows(), PAGE_ROWS);
  assert.deepEqual(faults, []);
});

test('the first file needs no other, and the program is compiled ahead', () => {
  const assets = join(ASSETS, 'assets');
  const [first] = readdirSync(assets).filter((name) => /^first\..*\.js$/.test(name));
  assert.doesNotMatch(readFileSync(join(assets, first), 'utf8'), /\bimport\s*[{"'*]|\bfrom\s*["']/);
  const [app] = readdirSync(assets).filter((name) => /^app\..*\.js$/.test(name));
  assert.match(readFileSync(join(assets, app), 'utf8'), /^\/\/# allFunctionsCalledOnLoad\n/);
});
