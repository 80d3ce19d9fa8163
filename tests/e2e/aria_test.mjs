// What a screen reader has of each page, as text: tests/e2e/structure. Numbers, times and ids are masked, of a list only the
// beginning is kept, and charts are left out, so a file changes only when the structure or the words do. EBB_APPROVE=1
// (`./dev ui approve`) writes the files again; the diff is the review.
import './packages.mjs';
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { ASSETS, launch, pagesOf, settled, startMock, watch } from './browser.mjs';

const FOLDER = new URL('./structure/', import.meta.url);
const APPROVES = process.env.EBB_APPROVE === '1';
/** Children that are alike: so many of them say what they are. */
const KEPT = 2;
const LISTS = /^- (rowgroup|list|listbox|tree|group "Steps of the workflow")\b/;
const PAGES = [
  'overview', 'instances', 'instances-columns', 'instance-timeline', 'instance-dead', 'instance-waiting', 'instance-steps', 'instance-history', 'instance-data', 'instance-related', 'compare', 'compare-data', 'failures', 'failures-group', 'decisions',
  'workflows', 'workflow-retention', 'workflow-versions', 'build', 'workers', 'queues', 'bulk', 'bulk-running', 'docs-start', 'settings', 'settings-grants', 'settings-projects', 'settings-tokens', 'settings-audit', 'settings-config', 'notifications', 'notifications-one', 'nothing',
];
let browser;
let mock;
let page;
before(async () => {
  [mock, browser] = await Promise.all([startMock({ assets: ASSETS }), launch()]);
  page = await browser.context.newPage();
  await watch(page, new URL(mock.address).origin, [/404/]);
});
after(async () => {
  await browser?.close();
  await mock?.close();
});

/** What differs from one run to the next. */
function masked(text) {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\b[0-9a-f]{12,}\b/g, 'HEX')
    .replace(/…[0-9a-f]{6}/g, '…ID')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/\d[\d,.:]*/g, '#')
    .replace(/#( (?:ms|s|m|h|d)\b)(?: #(?: (?:ms|s|m|h|d)\b))*/g, 'TIME')
    .replace(/\b(?:TIME ago|in TIME|now)\b/g, 'WHEN')
    .replace(/^(\s*- text: )(?:[▸◷✓✗↩↶■‖⊘⊗–○↻‼]\s*)+$/gm, '$1SIGN');
}

const depthOf = (line) => line.length - line.trimStart().length;

/** The lines without what is below a figure, and with the first children of a list only. */
function shortened(text) {
  const kept = [];
  /** Of the open lists: how deep its children stand, and how many there were. */
  let open = [];
  let hidden = Infinity;
  for (const line of text.split('\n')) {
    const depth = depthOf(line);
    if (depth > hidden) continue;
    hidden = Infinity;
    open = open.filter((list) => depth >= list.depth);
    const list = open.find((one) => one.depth === depth);
    if (list && (list.count += 1) > KEPT) {
      if (list.count === KEPT + 1) kept.push(`${' '.repeat(depth)}- …`);
      hidden = depth;
      continue;
    }
    kept.push(line);
    if (/^- figure\b/.test(line.trimStart())) hidden = depth;
    else if (LISTS.test(line.trimStart())) open.push({ depth: depth + 2, count: 0 });
  }
  return kept.join('\n');
}

for (const name of PAGES) {
  test(`structure: ${name}`, async () => {
    const path = pagesOf(mock.world)[name];
    assert.notEqual(path, undefined);
    await page.goto(mock.address + path);
    await settled(page);
    const found = `${shortened(masked(await page.locator('main').ariaSnapshot()))}\n`;
    assert.ok(found.length > 60, found);
    const file = new URL(`${name}.txt`, FOLDER);
    if (APPROVES) writeFileSync(file, found);
    else assert.equal(found, existsSync(file) ? readFileSync(file, 'utf8') : '', `${name}: ./dev ui approve writes what is new`);
  });
}

test('there is no file of a page that is gone', () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), PAGES.map((name) => `${name}.txt`).sort());
});

test('a list is shortened and a number masked, and nothing else', () => {
  const text = '- heading "Orders 12" [level=1]\n- list:\n  - listitem: a 4 m ago\n  - listitem:\n    - text: b\n  - listitem: c\n  - listitem: d\n- figure:\n  - img\n- text: after 3 m 04 s';
  assert.equal(shortened(masked(text)), '- heading "Orders #" [level=#]\n- list:\n  - listitem: a WHEN\n  - listitem:\n    - text: b\n  - …\n- figure:\n- text: after TIME');
});
