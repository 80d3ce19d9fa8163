// The figures of the web UI in Chromium, with the mock in place of the server, so that only the browser is measured:
// `./dev bench ui [FIGURE] [--json]`. Each is one number with a goal; the most that is allowed, or the least for frames.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ASSETS, launch, settled, startMock } from '../tests/e2e/browser.mjs';

const NODES = 10_000;
const EVENTS = 40_000;
const SLOWER = 4;
/** The server tells a list at most this often what is new. */
const LIST_MS = 100;
const ROWS_PER_SECOND = 100;
/** Of five inputs each. */
const INPUT_ROUNDS = 10;
/** Processor time of a build cannot be asked for, so a build is measured twice and the faster one counts. */
const BUILDS = 2;
const words = process.argv.slice(2);
const wanted = words.filter((word) => !word.startsWith('--') && word !== 'ui');
const figures = [];
const rounded = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;
/** As the other suites report: the ratio is that of the value to the limit, which is at most 1, or at least for frames. */
function note(name, value, unit, limit, is_least = false) {
  const is_met = is_least ? value >= limit : value <= limit;
  figures.push({
    name, value: rounded(value, 1), unit, yardstick: `at ${is_least ? 'least' : 'most'} ${limit} ${unit}`,
    ratio: rounded(limit ? value / limit : value + 1, 3), goal: 1, runs: [rounded(value, 1)],
    note: is_least ? 'higher is better' : 'lower is better', details: {}, verdict: is_met ? 'met' : 'missed',
  });
}
const sizesOf = (folder) => JSON.parse(readFileSync(join(folder, 'sizes.json'), 'utf8'));
const kilobytes = (sizes, names) => names.reduce((sum, name) => sum + (sizes[name]?.br ?? 0), 0) / 1000;
const at = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0;

/** What the page itself measures: its largest paint, how long each input took until its frame, and the time between two frames. */
const METER = () => {
  globalThis.meter = { paint: 0, inputs: new Map() };
  new PerformanceObserver((list) => {
    // One interaction has several events; the longest counts.
    for (const { interactionId, duration } of list.getEntries()) if (interactionId) globalThis.meter.inputs.set(interactionId, Math.max(duration, globalThis.meter.inputs.get(interactionId) ?? 0));
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.meter.paint = Math.max(globalThis.meter.paint, entry.startTime);
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  globalThis.measureFrames = (act, count) =>
    new Promise((done) => {
      const frames = [];
      let last = performance.now();
      const frame = (now) => {
        frames.push(now - last);
        last = now;
        act(frames.length);
        if (frames.length < count) requestAnimationFrame(frame);
        else done(frames.slice(1));
      };
      requestAnimationFrame(frame);
    });
};

/** A definition of many nodes: blocks of parallel branches, one below the other. */
function huge() {
  const steps = [];
  for (let block = 0, made = 0; made < NODES; ++block) {
    const branches = {};
    for (let b = 0; b < 10; ++b) branches[`b${b}`] = Array.from({ length: 10 }, (_, i) => ({ step: `s${block}_${b}_${i}`, compensate: 'undo' }));
    steps.push({ parallel: `p${block}`, branches });
    made += 101;
  }
  return { workflow: 'huge', version: 1, steps };
}

async function withPage(options, measure) {
  const mock = await startMock({ assets: ASSETS, ...options });
  const { context, close } = await launch();
  try {
    const page = await context.newPage();
    await page.addInitScript(METER);
    await measure(page, mock);
  } finally {
    await close();
    await mock.close();
  }
}

const MEASURED = {
  bytes() {
    const sizes = sizesOf(join(ASSETS, '..'));
    note('ui_bytes', kilobytes(sizes, Object.keys(sizes)), 'kB', 700);
    note('ui_bytes_editor', kilobytes(sizes, Object.keys(sizes).filter((name) => name.includes('/editor.'))), 'kB', 150);
  },
  first: () =>
    withPage({}, async (page, mock) => {
      const sizes = sizesOf(join(ASSETS, '..'));
      await page.goto(mock.address);
      await settled(page);
      const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname));
      const names = [...new Set(loaded)].filter((name) => sizes[name]);
      if (names.length < 4) throw new Error(`The first load was not found in: ${loaded.join(', ')}.`);
      note('ui_first_load', kilobytes(sizes, names), 'kB', 75);
    }),
  build() {
    const folder = mkdtempSync(join(tmpdir(), 'ebb-ui-build-'));
    const source = fileURLToPath(new URL('../', import.meta.url));
    try {
      const seconds = [];
      const built = [];
      for (let i = 0; i < BUILDS; ++i) {
        const out = join(folder, String(i));
        const begun = performance.now();
        const done = spawnSync(process.execPath, ['ui/scripts/build.mjs', out], { cwd: source, stdio: ['ignore', 2, 2] });
        if (done.status !== 0) throw new Error('The UI cannot be built.');
        seconds.push((performance.now() - begun) / 1000);
        built.push(['assets.bin', 'assets_table.inc', 'sizes.json'].map((name) => readFileSync(join(out, name))));
      }
      note('ui_build', Math.min(...seconds), 's', 30);
      note('ui_build_differences', built[0].filter((bytes, i) => !bytes.equals(built[1][i])).length, 'files', 0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  paint: () =>
    withPage({}, async (page, mock) => {
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
      for (const [name, goal] of [['ui_paint_cold', 1200], ['ui_paint_warm', 500]]) {
        await page.goto(mock.address);
        await settled(page);
        note(name, await page.evaluate(() => globalThis.meter.paint), 'ms', goal);
      }
    }),
  graph: () =>
    withPage({}, async (page, mock) => {
      mock.world.definitions.push(huge());
      mock.world.byName.set('huge', mock.world.definitions.at(-1));
      await page.goto(`${mock.address}workflows`);
      await settled(page);
      // The picture's data is there when its answer is; what follows is the browser's work.
      const answered = page.waitForResponse(/\/layout$/).then((response) => response.finished()).then(() => page.evaluate(() => performance.now()));
      await page.getByRole('link', { name: 'huge', exact: true }).click();
      const begun = await answered;
      const drawn = await page.evaluate(() => new Promise((done) => {
        const look = () => (document.querySelector('.area canvas, .area svg .node') ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look));
        look();
      }));
      note('ui_graph_shown', drawn - begun, 'ms', 800);
      const frames = await page.evaluate(() => {
        const area = document.querySelector('.area');
        const { left, top } = area.getBoundingClientRect();
        const send = (type, i) => (type === 'pointerup' ? globalThis : area).dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, clientX: left + 300 + 3 * i, clientY: top + 200 - 2 * i }));
        send('pointerdown', 0);
        return globalThis.measureFrames((i) => send('pointermove', i), 120).then((frames) => (send('pointerup', 0), frames));
      });
      note('ui_graph_pan', 1000 / at(frames, 0.95), 'frames/s', 50, true);
      note('ui_graph_dom', await page.evaluate(() => document.querySelectorAll('*').length), 'nodes', 3000);
    }),
  history: () =>
    withPage({ history: EVENTS }, async (page, mock) => {
      const { id } = mock.world.instances.find((row) => row.key === 'long');
      await page.goto(`${mock.address}instances/${id}?tab=data`);
      await settled(page);
      await page.getByRole('tab', { name: /^History/ }).waitFor();
      const shown = await page.evaluate(() => new Promise((done) => {
        const begun = performance.now();
        document.querySelector('#tab-history').click();
        const look = () => (document.querySelector('.event .type') ? requestAnimationFrame(() => done(performance.now() - begun)) : requestAnimationFrame(look));
        look();
      }));
      note('ui_history_shown', shown, 'ms', 600);
      const frames = await page.evaluate(() => {
        const area = document.querySelector('[role=listbox]');
        return globalThis.measureFrames((i) => (area.scrollTop = i * 400), 120);
      });
      note('ui_history_scroll', 1000 / at(frames, 0.95), 'frames/s', 50, true);
      const session = await page.context().newCDPSession(page);
      await session.send('HeapProfiler.collectGarbage');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      note('ui_history_heap', usedSize / 1e6, 'MB', 80);
    }),
  live: () =>
    withPage({}, async (page, mock) => {
      await page.goto(`${mock.address}instances`);
      await settled(page);
      await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
      const timer = setInterval(() => {
        let row;
        for (let i = 0; i < (ROWS_PER_SECOND * LIST_MS) / 1000; ++i) {
          row = mock.world.add('order', Date.now(), { stop: 'charge' });
          mock.world.instances.unshift(mock.world.instances.pop());
        }
        mock.publish(row);
      }, LIST_MS);
      const first = await page.locator('tbody tr a').first().getAttribute('href');
      const frames = await page.evaluate(() => globalThis.measureFrames(() => {}, 300));
      // What a person does meanwhile: types into the filter, opens and closes a menu, goes through the rows.
      const menu = page.locator('summary', { hasText: 'Columns' });
      const filter = page.getByRole('combobox', { name: 'Filter' });
      for (let i = 0; i < INPUT_ROUNDS; ++i) {
        await menu.click();
        await menu.click();
        await filter.press('s');
        await filter.press('Backspace');
        await filter.blur();
        await page.keyboard.press('j');
      }
      clearInterval(timer);
      const taken = await page.evaluate(() => new Promise((done) => setTimeout(() => done([...globalThis.meter.inputs.values()]), 200)));
      // Those below 16 ms are not reported. The worst of these few is what the page is judged by.
      note('ui_live_inp', Math.max(16, ...taken), 'ms', 100);
      if ((await page.locator('tbody tr a').first().getAttribute('href')) === first) throw new Error('The list did not follow.');
      note('ui_live_longest_frame', Math.max(...frames), 'ms', 100);
    }),
};

for (const [name, measure] of Object.entries(MEASURED)) {
  if (wanted.length && !wanted.some((one) => `ui_${name}`.startsWith(one) || one.startsWith(`ui_${name}`))) continue;
  await measure();
}
if (!figures.length) {
  console.error(`bench ui: there is no figure "${wanted.join(' ')}". Known are ${Object.keys(MEASURED).map((name) => `ui_${name}`).join(', ')}.`);
  process.exit(1);
}
if (words.includes('--json')) console.log(JSON.stringify(figures, null, 2));
else for (const { name, value, unit, yardstick, verdict } of figures) console.log(`${name.padEnd(24)} ${String(value).padStart(8)} ${unit.padEnd(9)} ${yardstick}${verdict === 'met' ? '' : '   MISSED'}`);
