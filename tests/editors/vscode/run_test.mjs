// A workflow runs here, and instances of a real SQLite store and of a real `ebb serve` are looked at and steered, all from
// the window of a real VS Code. Each program that the extension starts is recorded, so a test sees that none starts before
// the person asks. The pictures of docs/how-to/editors.md are made here: EBB_PICTURES names the folder to write them to.
import '../../e2e/packages.mjs';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync as writeText } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch } from '../../e2e/browser.mjs';
import { Code } from './code.mjs';
import { answer, command, confirm, dialog, openPage, pick, question, waitFor, waitForLine } from './workbench.mjs';

const { EBB_COMMAND, EBB_PICTURES } = process.env;

const REFUND = `workflow: refund
deadline: 1d
input_schema: {type: object, required: [amount]}
samples:
  small: {amount: 10}
  large: {amount: 2000}
handlers:
  look_up: {exec: [jq, '{order: 7}']}
  pay_back: {exec: [jq, '{paid: .amount}']}
steps:
  - step: look_up
  - condition: is_large
    when: workflow.input.amount > 1000
    then:
      - decision: approval
        deadline: 1d
  - step: pay_back
    input: {amount: "\${ workflow.input.amount }"}
`;
// Its second step fails until its file is there, so that what is requeued then completes.
const PARCEL = `workflow: parcel
deadline: 1d
on_error: dead_letter
handlers:
  reserve: {exec: [jq, '{shelf: 4}']}
  label: {exec: [cat, label.txt], output: text}
steps:
  - step: reserve
  - step: label
    max_attempts: 1
`;
const WAIT = `workflow: waiting
deadline: 30d
steps:
  - signal: arrived
    deadline: 20d
`;
const SETTINGS = { 'editor.minimap.enabled': false, 'breadcrumbs.enabled': false, 'workbench.colorTheme': 'Default Light Modern', 'window.commandCenter': false, 'workbench.tree.expandMode': 'doubleClick' };

let browser;
let home;
before(async () => {
  home = mkdtempSync(join(tmpdir(), 'ebb-store-'));
  browser = await launch();
});
after(async () => {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
});

/** The answer of the command itself, without the extension. */
function ebb(...words) {
  const done = spawnSync(EBB_COMMAND, words, { encoding: 'utf8', cwd: home });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/** A real server, with its worker, on a free port. */
async function serve(db, file) {
  const child = spawn(EBB_COMMAND, ['serve', file, '--db', db, '--listen', '127.0.0.1:0', '--json'], { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const url = await new Promise((found, failed) => {
    child.stderr.on('data', (data) => (said += data));
    child.stdout.on('data', (data) => {
      said += data;
      const line = said.split('\n').find((one) => one.includes('"serving"') && one.endsWith('}'));
      if (line) found(JSON.parse(line).url);
    });
    child.once('exit', (status) => failed(new Error(`ebb serve ended with ${status}:\n${said}`)));
  });
  const stop = async () => {
    child.removeAllListeners('exit');
    const ended = new Promise((done) => child.once('exit', done));
    child.kill();
    await ended;
  };
  return { url, stop };
}

const tree = (page) => page.locator('.pane', { hasText: 'Instances' }).locator('.monaco-list-row');
const row = (page, words) => tree(page).filter({ hasText: words }).first();

/** Opens an entry of the tree if it is closed. */
async function expand(page, words) {
  const entry = row(page, words);
  await entry.waitFor();
  const isOpen = async () => (await entry.getAttribute('aria-expanded')) === 'true';
  await waitFor(page, async () => {
    if (await isOpen()) return true;
    // Only opens: a key that comes twice closes nothing.
    await entry.click();
    await page.keyboard.press('ArrowRight');
    return isOpen();
  });
}

/** Shows the view with this connection. A workbench that is still loading ignores the click or closes the view again, and may read its settings later. */
async function openView(page, connection) {
  const isShown = (entry) => entry.waitFor({ timeout: 15_000 }).then(() => true, () => false);
  do {
    await page.locator('.activitybar [aria-label="Ebb"]').first().click();
  } while (!(await isShown(tree(page).first())));
  while (!(await isShown(row(page, connection)))) await command(page, 'Ebb: Refresh Instances');
}

/** The page of an instance, whose heading has these words. */
async function instance(page, words) {
  const inner = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  await inner.locator('h1', { hasText: words }).waitFor();
  return inner;
}

const status = (panel, words) => panel.locator('.status', { hasText: words }).waitFor();
const event = (panel, type) => panel.locator(`tr[data-event="${type}"]`).first();

/**
 * Chooses an entry of the menu of a row, until what it opens is shown. VS Code ignores a click that comes too soon after
 * the menu is drawn, and closes a menu when a view takes the focus: nothing is chosen then, and the person tries again.
 */
async function menu(page, words, entry, opened) {
  const item = page.getByRole('menuitem', { name: entry }).first();
  const shows = (one, timeout) => one.waitFor({ timeout }).then(() => true, () => false);
  do {
    if (!(await item.isVisible())) await row(page, words).click({ button: 'right' });
    if (!(await shows(item, 5000))) continue;
    while (await item.isVisible()) await item.click({ timeout: 1000 }).catch(() => {});
  } while (!(await shows(opened, 30_000)));
}

async function takePicture(page, name) {
  if (EBB_PICTURES) await page.screenshot({ path: join(EBB_PICTURES, name) });
}

test('a workflow runs here: its decision is made in its page, and its timeline and history follow', async () => {
  const code = await Code.start({ files: { 'refund.ebb.yaml': REFUND }, isTrusted: true, settings: SETTINGS });
  try {
    const page = await openPage(browser, code.url({ file: 'refund.ebb.yaml' }));
    await page.locator('.tab.active').filter({ hasText: 'refund.ebb.yaml' }).waitFor();
    await page.locator('.codelens-decoration a', { hasText: 'Run' }).first().click();
    await pick(page, 'large');
    const panel = await instance(page, 'refund');
    await event(panel, 'decision_awaited').waitFor();
    await status(panel, 'running');
    await panel.locator('svg.ebb-diagram g[data-node="approval"]').waitFor();
    await panel.locator('li[data-node="approval"] .bar.wait').waitFor();

    // To the line of a node of the picture.
    await panel.locator('g[data-node="approval"]').click();
    const line = REFUND.split('\n').findIndex((one) => one.includes('decision: approval')) + 1;
    await waitForLine(page, line);
    await takePicture(page, 'editors-run.png');

    // Only what the instance waits for is offered.
    assert.deepEqual(await panel.getByRole('toolbar').getByRole('button').allInnerTexts(), ['Decide...', 'Pause...', 'Cancel...', 'Abort...']);

    // A person who does not confirm changes nothing.
    await panel.getByRole('button', { name: 'Decide...' }).click();
    await pick(page, 'Confirm');
    await answer(page, 'comment', 'checked by phone');
    await confirm(page, 'Confirm the decision "approval" of refund', 'Cancel');
    assert.ok(!code.starts().some((one) => one.startsWith('decide')));
    await panel.getByRole('button', { name: 'Decide...' }).click();
    await pick(page, 'Confirm');
    await answer(page, 'comment', 'checked by phone');
    await confirm(page, 'Confirm the decision "approval" of refund', 'Confirm');
    await status(panel, 'completed');
    await event(panel, 'completed').waitFor();
    assert.equal(await panel.locator('tr[data-step="pay_back"] td.completed').count(), 1);
    assert.equal(await panel.locator('li[data-node="pay_back"] .bar.done').count(), 1);
    assert.equal(await panel.getByRole('toolbar').count(), 0, 'nothing can be done with what has ended');

    // A value to read.
    await panel.getByRole('button', { name: 'output of pay_back' }).click();
    await page.locator('.view-line', { hasText: '"paid": 2000' }).waitFor();
    const starts = code.starts().map((one) => one.split(' ')[0]);
    assert.deepEqual([...new Set(starts)].sort(), ['decide', 'diagram', 'history', 'list', 'lsp', 'run', 'show', 'why'].filter((one) => starts.includes(one)));
    assert.equal(starts.filter((one) => one === 'run').length, 1);
  } finally {
    await code.stop();
  }
});

test('instances of a store are found, signalled and cancelled, and no program looks before a person opens them', async () => {
  const db = join(home, 'shop.db');
  const waiting = join(home, 'waiting.yaml');
  writeText(waiting, WAIT);
  for (const key of ['P-1', 'P-2', 'P-3']) ebb('start', waiting, '--key', key, '--db', db);
  ebb('worker', '--once', '--db', db);
  const settings = { ...SETTINGS, 'ebb.connections': [{ name: 'Shop', url: db }, { name: 'Gone', url: join(home, 'gone.db') }, { name: 'Open secret', url: 'postgresql://ann:secret@127.0.0.1/shop' }] };
  const code = await Code.start({ files: { 'refund.ebb.yaml': REFUND }, isTrusted: true, settings });
  try {
    const page = await openPage(browser, code.url({ file: 'refund.ebb.yaml' }));
    await openView(page, 'Shop');
    await row(page, 'Shop').waitFor();
    assert.deepEqual([...new Set(code.starts())], ['lsp']);
    await expand(page, 'Shop');
    await expand(page, 'waiting');
    await row(page, 'P-1').click();
    const panel = await instance(page, 'waiting');
    await status(panel, 'running');
    await panel.getByRole('button', { name: 'Send Signal...' }).click();
    await pick(page, 'arrived');
    await answer(page, 'Signal arrived: JSON', '{"at": "door"}');
    await confirm(page, 'Send the signal "arrived" to waiting', 'Send');
    await waitFor(page, () => ebb('history', 'key:waiting/P-1', '--json', '--db', db).includes('door'));
    ebb('worker', '--once', '--db', db);
    await status(panel, 'completed');

    await menu(page, 'P-2', 'Cancel...', dialog(page, 'Cancel waiting'));
    await confirm(page, 'Cancel waiting', 'Cancel the Instance');
    await waitFor(page, () => ebb('history', 'key:waiting/P-2', '--json', '--db', db).includes('cancel_requested'));

    // What cannot be taken back is typed.
    await menu(page, 'P-3', 'Pause...', dialog(page, 'Pause waiting'));
    await confirm(page, 'Pause waiting', 'Pause');
    await row(page, 'P-3').filter({ hasText: 'paused' }).waitFor();
    const { id } = JSON.parse(ebb('show', 'key:waiting/P-3', '--json', '--db', db));
    await menu(page, 'P-3', 'Abort...', question(page, 'Abort waiting'));
    await answer(page, 'Abort waiting', id.slice(-8));
    await row(page, 'P-3').filter({ hasText: 'aborted' }).waitFor();

    // What cannot be reached says why, and a password in the settings is refused and not used.
    await expand(page, 'Gone');
    await row(page, 'There is no database').waitFor();
    await expand(page, 'Open secret');
    await row(page, '.pgpass').waitFor();
    assert.ok(!code.starts().some((one) => one.includes('secret')));
  } finally {
    await code.stop();
  }
});

test('a workflow is compared with the version that a store has, and its lens counts the instances', async () => {
  const db = join(home, 'compared.db');
  const waiting = join(home, 'compared.yaml');
  writeText(waiting, WAIT);
  ebb('start', waiting, '--key', 'C-1', '--db', db);
  ebb('worker', '--once', '--db', db);
  const changed = WAIT + '  - step: unpack\n';
  const code = await Code.start({ files: { 'waiting.ebb.yaml': changed }, isTrusted: true, settings: { ...SETTINGS, 'ebb.connections': [{ name: 'Shop', url: db }] } });
  try {
    const page = await openPage(browser, code.url({ file: 'waiting.ebb.yaml' }));
    await page.locator('.tab.active').filter({ hasText: 'waiting.ebb.yaml' }).waitFor();
    await page.locator('.codelens-decoration a', { hasText: 'Run' }).first().waitFor();
    await command(page, 'Ebb: Compare with Registered Version');
    const inner = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
    await inner.locator('#list', { hasText: 'unpack' }).waitFor();
    await inner.locator('svg.ebb-diagram g[data-node="unpack"]').waitFor();
    await inner.locator('#state', { hasText: 'give the workflow a new one' }).waitFor();
    await inner.locator('g[data-node="unpack"]').click();
    await waitForLine(page, changed.split('\n').findIndex((one) => one.includes('unpack')) + 1);

    await openView(page, 'Shop');
    await expand(page, 'Shop');
    await page.locator('.codelens-decoration a', { hasText: 'Shop: 1 running' }).first().waitFor();
  } finally {
    await code.stop();
  }
});

test('instances of a server: its token is kept secret, and a dead letter is requeued', async () => {
  const db = join(home, 'server.db');
  const flag = join(home, 'label.txt');
  const parcel = join(home, 'label.yaml');
  writeText(parcel, PARCEL);
  ebb('start', parcel, '--key', 'F-1', '--db', db);
  const token = ebb('token', 'create', 'editor', '--role', 'operator', '--db', db).trim().split('\n').at(-1).trim();
  const server = await serve(db, parcel);
  const code = await Code.start({ files: { 'parcel.ebb.yaml': PARCEL }, isTrusted: true, settings: { ...SETTINGS, 'workbench.colorTheme': 'Default Dark Modern', 'ebb.connections': [{ name: 'Warehouse', url: server.url }] } });
  try {
    const page = await openPage(browser, code.url({ file: 'parcel.ebb.yaml' }));
    await openView(page, 'Warehouse');
    await expand(page, 'Warehouse');
    await row(page, 'EBB_TOKEN').waitFor();
    await command(page, 'Ebb: Set Token of a Server');
    await answer(page, 'Token of', token);
    await command(page, 'Ebb: Refresh Instances');
    await expand(page, 'parcel');
    await row(page, 'F-1').filter({ hasText: 'dead letter' }).waitFor();
    await page.locator('.activitybar .badge-content', { hasText: '1' }).first().waitFor();
    await expand(page, 'Decisions');
    await row(page, 'No decision is awaited.').waitFor();
    await row(page, 'F-1').click();
    const panel = await instance(page, 'parcel');
    await status(panel, 'dead letter');
    await panel.locator('svg.ebb-diagram g[data-node="label"]').waitFor();
    await panel.locator('li[data-node="label"] .bar.failed').waitFor();
    assert.deepEqual(await panel.getByRole('toolbar').getByRole('button').allInnerTexts(), ['Requeue', 'Cancel...', 'Abort...']);
    await takePicture(page, 'editors-instances.png');
    // The open file has the workflow.
    await panel.locator('g[data-node="label"]').click();
    const line = PARCEL.split('\n').findIndex((one) => one.includes('step: label')) + 1;
    await waitForLine(page, line);
    writeText(flag, 'here it is');
    await panel.getByRole('button', { name: 'Requeue' }).click();
    await confirm(page, 'Let parcel', 'Requeue');
    await status(panel, 'completed');
    assert.ok(!code.starts().some((one) => one.includes(token)), 'the token is in no list of processes');
    assert.ok(!code.settings().includes(token));
  } finally {
    await code.stop();
    await server.stop();
  }
});
