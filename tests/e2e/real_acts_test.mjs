// Every act of the UI on a real `ebb serve`: what its sheet says will happen, and what the server has of it afterwards.
import './packages.mjs';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { launch, settled, watch } from './browser.mjs';
import { startReal } from './real.mjs';

const WORKFLOWS = {
  // Its conditions are checked at each write; `phase` comes from outside.
  hotel: `
workflow: hotel
rules:
  attributes:
    phase: {default: asked, external: true}
    room: text
  triggers:
    reserve: {when: phase = 'reserve' and room is null, do: hold_room, writes: [room]}
  final:
    left: phase = 'left'
  on_idle: wait
handlers:
  hold_room: {exec: [sh, -c, 'cat >/dev/null; echo "{\\"room\\": \\"12\\"}"']}
`,
  contract: `
workflow: contract
steps:
  - decision: sign
    roles: [legal]
    quorum: 2
`,
  purchase: `
workflow: purchase
steps:
  - decision: approve
    roles: [boss, owner]
`,
  // Its only compensation fails for good.
  transfer: `
workflow: transfer
steps:
  - step: debit
    compensate: {handler: credit, max_attempts: 1}
  - signal: go
handlers:
  debit: {exec: [cat]}
  credit: {exec: [sh, -c, 'cat >/dev/null; echo "account closed" >&2; exit 1']}
`,
};
let real;
let browser;
let page;
let faults;
before(async () => {
  real = await startReal({ workflows: WORKFLOWS, args: ['--webhooks-allow-private', '--links', 'Logs=https://logs.example/?q=${instance.id}'] });
  browser = await launch();
  const login = await browser.context.newPage();
  await login.goto(real.link('admin'));
  await settled(login);
  await login.close();
});
after(async () => {
  await browser?.close();
  await real?.close();
});
beforeEach(async () => {
  page = await browser.context.newPage();
  faults = await watch(page, real.origin, [/Failed to load resource/]);
});
afterEach(async () => {
  assert.deepEqual(faults, []);
  await page.close();
});

const button = (name) => page.getByRole('button', { name, exact: true });
const dialog = () => page.getByRole('dialog');
const status = (text) => page.locator('main .status', { hasText: text }).first();
async function open(path) {
  await page.goto(real.address + path);
  await settled(page);
}
/** What the history has of this type, the oldest first. */
const events = async (id, type) => (await real.api('GET', `/instances/${id}/history?type=${type}&payloads=full`)).items;
let n = 0;
async function order(input = {}, key = `ACT-${++n}`) {
  const id = await real.order({ order: key, amount: 5, ...input }, key);
  await real.until(id, real.waits('decision'));
  return id;
}
async function start(workflow, input = {}) {
  return (await real.api('POST', '/instances', { workflow, input })).id;
}
const waitsToWrite = (view) => view.waiting_for.some((wait) => wait.kind === 'write');

test('abort: it stops at once, and what was done stays', async () => {
  const id = await order();
  await open(`instances/${id}`);
  await button('Abort…').click();
  await dialog().getByText('What these steps did stays as it is: charge, reserve.').waitFor();
  await dialog().getByLabel('Reason').fill('test data');
  await button('Abort without undoing').click();
  await status('aborted').waitFor();
  const [event] = await events(id, 'abort_requested');
  assert.deepEqual([event.payload.reason, event.payload.by], ['test data', 'user:ann']);
  assert.deepEqual(await events(id, 'step_compensated'), []);
});

test('pause and resume: nothing starts in between', async () => {
  const id = await order();
  await open(`instances/${id}`);
  await button('Pause').click();
  await dialog().getByLabel('Reason').fill('bank is down');
  await dialog().getByRole('button', { name: 'Pause', exact: true }).click();
  await status('paused').waitFor();
  assert.equal((await real.api('GET', `/instances/${id}`)).status, 'paused');
  await button('Resume').first().click();
  await dialog().getByRole('button', { name: 'Resume', exact: true }).click();
  await status('running').waitFor();
  assert.equal((await events(id, 'paused'))[0].payload.reason, 'bank is down');
  assert.equal((await events(id, 'unpaused')).length, 1);
});

test('reject: the instance undoes what it did and fails, with the comment in its history', async () => {
  const id = await order();
  await open(`instances/${id}`);
  await button('Reject').click();
  await dialog().getByLabel('Comment').fill('too risky');
  await dialog().getByRole('button', { name: 'Reject', exact: true }).click();
  await status('failed').waitFor();
  const [vote] = await events(id, 'decision_made');
  assert.deepEqual([vote.payload.verdict, vote.payload.comment, vote.payload.by], ['rejected', 'too risky', 'user:ann']);
  assert.deepEqual((await events(id, 'step_compensated')).map((event) => event.node), ['charge', 'reserve']);
});

test('confirm and signal: each from its button below the reason, until the instance completes', async () => {
  const id = await order();
  await open(`instances/${id}`);
  await button('Confirm').click();
  await dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.locator('.unblock').getByRole('button', { name: 'Send signal…' }).click();
  assert.equal(await dialog().getByLabel('Signal', { exact: true }).inputValue(), 'paid', 'the name is that of the signal that it waits for');
  await dialog().getByLabel('Payload').fill('{"receipt": ');
  await dialog().getByRole('button', { name: 'Send signal', exact: true }).click();
  await dialog().getByText('This is not JSON.').waitFor();
  await dialog().getByLabel('Payload').fill('{"receipt": 7}');
  await dialog().getByRole('button', { name: 'Send signal', exact: true }).click();
  await status('completed').waitFor();
  assert.deepEqual((await events(id, 'signal_received')).map((event) => event.payload.receipt), [7]);
});

test('a quorum of two: one vote is not enough, the second person’s is', async () => {
  const id = await start('contract');
  await real.until(id, real.waits('decision'));
  await open('decisions');
  await page.locator('.inbox .item', { hasText: 'contract' }).click();
  await page.locator('.card').getByText('0 of 2 confirmed').waitFor();
  await page.locator('.card').getByRole('button', { name: 'Confirm' }).click();
  await dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
  await page.locator('.inbox .item', { hasText: 'contract' }).getByText('1 of 2 confirmed').waitFor();
  await real.api('POST', `/instances/${id}/decide`, { verdict: 'confirm', role: 'legal' });
  await page.locator('.inbox .item', { hasText: 'contract' }).waitFor({ state: 'detached' });
  await real.until(id, (view) => view.status === 'completed');
});

test('a decision of several roles: the person says in which one, in the inbox and on the page of the instance', async () => {
  const [first, second] = [await start('purchase'), await start('purchase')];
  for (const id of [first, second]) await real.until(id, real.waits('decision'));
  await open(`decisions?at=${first}/approve/1`);
  await page.locator('.card').getByRole('button', { name: 'Confirm' }).click();
  assert.deepEqual(await dialog().getByLabel('In which role').locator('option').allTextContents(), ['', 'boss', 'owner']);
  await dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
  assert.equal(await dialog().getByLabel('In which role').evaluate((one) => one.validity.valueMissing), true, 'it is not sent without a role');
  await dialog().getByLabel('In which role').selectOption('owner');
  await dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
  await real.until(first, (view) => view.status === 'completed');
  assert.deepEqual((await events(first, 'decision_made')).map((event) => event.payload.role), ['owner']);

  // This page does not know the roles before the server says them.
  await open(`instances/${second}`);
  await button('Reject').click();
  await dialog().getByRole('button', { name: 'Reject', exact: true }).click();
  await dialog().getByLabel('In which role').selectOption('boss');
  await dialog().getByRole('button', { name: 'Reject', exact: true }).click();
  await real.until(second, (view) => view.status === 'failed');
  assert.deepEqual((await events(second, 'decision_made')).map((event) => event.payload.role), ['boss']);
});

test('a compensation that fails for good: it is skipped by a person, and the cancel goes on', async () => {
  const id = await start('transfer', { amount: 5 });
  await real.until(id, real.waits('signal'));
  await real.api('POST', `/instances/${id}/cancel`, { reason: 'fraud' });
  await real.until(id, (view) => view.status === 'dead_letter');
  await open(`instances/${id}`);
  await button('Retry from here…').first().click();
  await dialog().getByLabel('Skip the compensation that failed').check();
  await dialog().getByRole('button', { name: 'Retry from here', exact: true }).click();
  await status('cancelled').waitFor();
  assert.equal((await events(id, 'compensation_skipped')).length, 1);
});

test('write and take back: the present attributes are shown, a wrong one is refused with its name, and what was fired is undone', async () => {
  const id = await start('hotel');
  await real.until(id, waitsToWrite);
  await open(`instances/${id}`);
  await button('Write…').click();
  await dialog().locator('.payload').getByText('asked').waitFor();
  await dialog().getByLabel('Values to write').fill('{"room": "13"}');
  await dialog().getByRole('button', { name: 'Write', exact: true }).click();
  await dialog().getByRole('alert').getByText('“room”').or(dialog().getByRole('alert').getByText('"room"')).waitFor();
  await dialog().getByLabel('Values to write').fill('{"phase": "reserve"}');
  await dialog().getByRole('button', { name: 'Write', exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  const after = await real.until(id, (view) => view.attributes.room === '12' && waitsToWrite(view));
  assert.equal(after.attributes.phase, 'reserve');
  const [write] = await events(id, 'attributes_written');
  assert.deepEqual([write.payload.values, write.payload.by], [{ phase: 'reserve' }, 'user:ann']);
  // The page follows in its own time, and an act on an earlier revision is refused.
  await open(`instances/${id}`);
  await button('Take back…').click();
  const to = dialog().getByLabel('Back to');
  assert.ok((await to.locator('option').count()) >= 2, 'the start and each write');
  await to.selectOption('1');
  await dialog().getByRole('button', { name: 'Take back', exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  await real.until(id, (view) => waitsToWrite(view) || view.status === 'dead_letter' || view.attributes.room === '12');
  const [taken] = await events(id, 'recover_requested');
  assert.deepEqual([taken.payload.to, taken.payload.by], [1, 'user:ann']);
});

test('move out: the file that is downloaded continues the instance where it is imported', async () => {
  const id = await order({}, 'MOVED');
  await open(`instances/${id}`);
  await button('Move out…').click();
  const download = page.waitForEvent('download');
  await button('Move out and download').click();
  const file = await download;
  assert.equal(file.suggestedFilename(), `order-${id}.json`);
  const snapshot = JSON.parse(readFileSync(await file.path(), 'utf8'));
  await status('moved').waitFor();
  assert.equal((await real.api('GET', `/instances/${id}`)).status, 'moved');
  await real.api('POST', '/instances/import', snapshot);
  await page.reload();
  await status('running').waitFor();
});

test('start again: with the same input, changed by the form, under its own key', async () => {
  const id = await order({ risk: 'high' });
  await open(`instances/${id}`);
  await button('Start again…').click();
  assert.equal(await page.getByLabel('Amount').inputValue(), '5');
  await page.getByLabel('Amount').fill('-3');
  await button('Start').click();
  await dialog().getByText('At least 0.').waitFor();
  await page.getByLabel('Amount').fill('6');
  await page.getByLabel('Key (optional)').fill('AGAIN');
  await button('Start').click();
  await page.waitForURL((url) => /instances\/[0-9a-f-]{36}/.test(url.pathname) && !url.pathname.includes(id));
  const made = await real.api('GET', `/instances/${encodeURIComponent('key:order/AGAIN')}`);
  assert.deepEqual([made.input.amount, made.input.risk], [6, 'high']);
});

/** A page of another person: the operator that a link names. */
async function operator() {
  const other = await launch();
  const page = await other.context.newPage();
  const wrong = await watch(page, real.origin);
  await page.goto(real.link('operator'));
  await settled(page);
  return { page, wrong, close: other.close };
}

test('start again by an operator: the stored input, the labels and the newest version, once, and the old one stays', async () => {
  const register = (version, node) => real.api('POST', '/workflows', `workflow: refill\nversion: ${version}\nsensitive: [/pin]\nsteps:\n  - signal: ${node}\n`, 'application/yaml');
  await register(1, 'paid');
  const { id } = await real.api('POST', '/instances', { workflow: 'refill', key: 'R-1', priority: 7, labels: { shop: 'berlin' }, input: { litres: 4, pin: '0815' } });
  await real.until(id, real.waits('signal'));
  await register(2, 'filled');
  await real.api('POST', `/instances/${id}/cancel`, {});
  const old = await real.until(id, (view) => view.status === 'cancelled');
  const other = await operator();
  try {
    const named = (name) => other.page.getByRole('button', { name, exact: true });
    const startAgain = async () => {
      await other.page.goto(`${real.address}instances/${id}`);
      await settled(other.page);
      await named('Start again…').click();
      assert.equal(await named('With another input…').count(), 0);
      await other.page.getByRole('dialog').getByText('the stored input').waitFor();
      await named('Start again').click();
      await other.page.waitForURL((url) => /instances\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(id));
      return other.page.url().slice(-36);
    };
    const made = await startAgain();
    await real.until(made, real.waits('signal'));
    const view = await real.api('GET', `/instances/${made}?reveal=true`);
    assert.deepEqual([old.version, old.input, old.labels], [1, { litres: 4, pin: '•••' }, { shop: 'berlin' }]);
    assert.deepEqual([view.workflow, view.version, view.key, view.input, view.labels, view.priority], ['refill', 2, `rerun:${id}`, { litres: 4, pin: '0815' }, { ...old.labels, 'ebb.rerun_of': id }, 7]);
    assert.equal((await real.api('GET', `/instances/${made}/related`)).started_by, 'user:ann');
    assert.equal(await startAgain(), made, 'the second time, nothing new starts');
    await other.page.getByText('This work had already been started again, as this instance.').waitFor();
    assert.equal((await real.api('GET', `/instances/${id}`)).revision, old.revision);
    assert.deepEqual(other.wrong, []);
  } finally {
    await other.close();
  }
});

test('every act is also a command, which does the same', async () => {
  const id = await order();
  await open(`instances/${id}`);
  await button('Cancel…').click();
  await dialog().getByLabel('Reason').fill("it's a test");
  await dialog().getByText('The same as a command').click();
  const command = await dialog().locator('pre').first().innerText();
  assert.equal(command, `ebb cancel ${id} --reason 'it'\\''s a test'`);
  const done = spawnSync('sh', ['-c', command.replace(/^ebb/, '"$EBB_COMMAND" --server "$SERVER"')], { encoding: 'utf8', env: { ...process.env, EBB_DB: '', SERVER: real.address, EBB_TOKEN: real.token } });
  assert.equal(done.status, 0, done.stderr);
  await real.until(id, (view) => view.status === 'cancelled');
  assert.equal((await events(id, 'cancel_requested'))[0].payload.reason, "it's a test");
});

test('what is related: the other instance with its key, those with its failure, the bulk and who started it', async () => {
  await real.api('POST', '/workflows', 'workflow: invoice\nsteps:\n  - signal: go\n', 'application/yaml');
  const id = await order({}, 'REL-1');
  const other = (await real.api('POST', '/instances', { workflow: 'invoice', key: 'REL-1' })).id;
  const bulk = (await real.api('POST', '/bulk', { action: 'pause', ids: [id] })).id;
  await real.until(id, (view) => view.status === 'paused');
  await open(`instances/${id}?tab=related`);
  const panel = page.getByRole('tabpanel');
  await panel.getByText('token:test', { exact: true }).waitFor();
  await panel.getByText(id.replaceAll('-', '')).waitFor();
  assert.equal(await panel.getByRole('link', { name: 'Logs' }).getAttribute('href'), `https://logs.example/?q=${id}`);
  await panel.locator(`a[href$="/bulk/${bulk}"]`).waitFor();
  await panel.getByRole('link', { name: 'invoice' }).click();
  await page.waitForURL(new RegExp(other));
  for (const n of [1, 2]) await start('import', { file: `rel-${n}` });
  const { items } = await real.api('GET', '/instances?workflow=import');
  for (const one of items) await real.until(one.id, (view) => view.status === 'dead_letter');
  await open(`instances/${items[0].id}?tab=related`);
  await panel.getByRole('heading', { name: 'Failed in the same way' }).waitFor();
  await panel.locator(`a[href$="/instances/${items[1].id}"]`).waitFor();
  await panel.getByRole('link', { name: 'The whole group' }).click();
  await page.getByText('2 instances').or(page.locator('.one').nth(1)).first().waitFor();
});

test('retention: the rule of a workflow is set, refused if it is not a duration, and removed', async () => {
  await open('workflows/contract?tab=retention');
  await page.getByText('There is no rule: instances are kept forever.').waitFor();
  await page.getByLabel('Completed instances are kept for').fill('soon');
  await button('Set the rule').click();
  await page.getByRole('alert').first().waitFor();
  await page.getByLabel('Completed instances are kept for').fill('30d');
  await button('Set the rule').click();
  await page.getByText('This workflow has a rule of its own.').waitFor();
  const rule = (await real.api('GET', '/retention')).items.find((one) => one.workflow === 'contract');
  assert.deepEqual([rule.completed, rule.failed], ['30d', 'forever']);
  await button('Remove the rule').click();
  await page.getByText('There is no rule: instances are kept forever.').waitFor();
  assert.ok(!(await real.api('GET', '/retention')).items.some((one) => one.workflow === 'contract'));
});

test('limits of a queue are set in place, and removed', async () => {
  await real.api('PUT', '/queues/default', { concurrency: 5 });
  await open('queues');
  await page.getByRole('button', { name: 'Limits for queue default' }).click();
  await page.getByLabel('At once', { exact: true }).fill('3');
  await button('Set limits').click();
  await page.locator('tr', { hasText: 'default' }).getByRole('img', { name: /of 3 in use/ }).waitFor();
  const limit = async () => (await real.api('GET', '/queues')).items.find((one) => one.name === 'default')?.concurrency ?? null;
  assert.equal(await limit(), 3);
  await page.getByRole('button', { name: 'Limits for queue default' }).click();
  await page.getByLabel('At once', { exact: true }).fill('');
  await button('Set limits').click();
  await page.getByRole('img', { name: /of 3 in use/ }).waitFor({ state: 'detached' });
  assert.equal(await limit(), null);
});

test('a hook is switched off and on, and keeps its secret and its mapping', async () => {
  await real.api('PUT', '/hooks/shop', { scheme: 'token', workflow: 'order', key: '${ body.id }', when: 'false', secret: 'abcdefghijklmnopqrst' });
  const before = await real.api('GET', '/hooks/shop');
  const send = () => fetch(`${real.address}api/v1/hooks/shop`, { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer abcdefghijklmnopqrst' }, body: '{"id": 1}' });
  assert.equal((await send()).status, 202);
  await open('notifications');
  const row = page.locator('tr', { hasText: 'shop' });
  await row.getByText('starts order').waitFor();
  await row.getByRole('button', { name: 'Disable: shop' }).click();
  await row.getByText('disabled').waitFor();
  assert.equal((await send()).status, 404);
  await row.getByRole('button', { name: 'Enable: shop' }).click();
  await row.getByRole('button', { name: 'Disable: shop' }).waitFor();
  assert.deepEqual(await real.api('GET', '/hooks/shop'), before);
  assert.equal((await send()).status, 202);
});

test('a webhook keeps its filter when it is switched off and on, and a delivery that ended is sent again', async () => {
  const made = await real.api('PUT', '/webhooks/erp', { url: 'http://127.0.0.1:9/in', events: ['instance.failed'], where: 'labels.vip', payload: true });
  await open('notifications?at=erp');
  await button('Disable').click();
  await button('Enable').click();
  await button('Disable').waitFor();
  const now = await real.api('GET', '/webhooks/erp');
  assert.deepEqual([now.where, now.payload, now.events, now.url], [made.where, true, made.events, made.url]);
  await button('Send a ping').click();
  await dialog().locator('.deliveries li').first().waitFor();
  const { items: [ping] } = await real.api('GET', '/webhooks/erp/deliveries');
  await real.api('POST', `/instances/${ping.id}/abort`, {});
  await page.reload();
  await button('Deliver again').click();
  await page.waitForFunction(() => document.querySelectorAll('dialog .deliveries li').length > 1);
  await button('Remove…').click();
  await button('Remove the webhook').click();
  await dialog().waitFor({ state: 'detached' });
});

test('a token is made and shown once, works, and works no more when it is revoked', async () => {
  await open('settings?tab=tokens');
  await button('New token…').click();
  await dialog().getByLabel('Token', { exact: true }).fill('ci');
  await dialog().getByLabel('Role', { exact: true }).selectOption('viewer');
  await button('Create token').click();
  await page.getByText('This is the token. It is shown only now.').waitFor();
  const secret = await page.locator('code', { hasText: /^ebb_/ }).first().innerText();
  const ask = () => fetch(`${real.address}api/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await ask()).status, 200);
  await page.reload();
  await settled(page);
  assert.ok(!(await page.content()).includes(secret), 'the secret is nowhere any more');
  await page.getByRole('button', { name: 'Revoke the token ci' }).click();
  await dialog().getByRole('button', { name: /^Revoke/ }).click();
  await page.getByRole('button', { name: 'Revoke the token ci' }).waitFor({ state: 'detached' });
  assert.equal((await ask()).status, 401);
});

test('a failure group: one is retried first, then all others by the server', async () => {
  await real.api('POST', '/workflows', 'workflow: flaky\non_error: dead_letter\nsteps:\n  - signal: go\n  - fail: always\n', 'application/yaml');
  const ids = [];
  for (let i = 0; i < 3; ++i) ids.push(await start('flaky'));
  for (const id of ids) {
    await real.until(id, real.waits('signal'));
    await real.api('POST', `/instances/${id}/signal`, { name: 'go' });
  }
  for (const id of ids) await real.until(id, (view) => view.status === 'dead_letter');
  await open('failures?workflow=flaky');
  await page.locator('.line').first().click();
  await page.getByRole('button', { name: /^Retry one, then all/ }).click();
  await button('Retry one first').click();
  await page.getByText(/It failed again in the same way/).waitFor();
  assert.equal((await Promise.all(ids.map((id) => events(id, 'requeued')))).flat().length, 1, 'only one was tried');
});

test('a bulk operation is steered from its page: paused, continued and ended', async () => {
  const ids = [];
  for (let i = 0; i < 3; ++i) ids.push(await order());
  const bulk = (await real.api('POST', '/bulk', { action: 'pause', ids, rate: '1/1h' })).id;
  await open(`bulk/${bulk}`);
  await button('Pause').click();
  await status('paused').waitFor();
  await button('Continue').click();
  await status('running').waitFor();
  await button('End it here').click();
  await status('cancelled').waitFor();
  assert.equal((await real.api('GET', `/bulk/${bulk}`)).status, 'cancelled');
  const left = await Promise.all(ids.map(async (id) => (await real.api('GET', `/instances/${id}`)).status));
  assert.ok(left.includes('running'), 'what it had not reached stays as it was');
});

test('a definition of a megabyte and more is refused with its limit, and the draft stays', async () => {
  await open('build');
  const text = page.locator('.cm-content');
  await text.waitFor();
  const big = `workflow: big\nsteps:\n${'  - step: a # padding padding padding padding padding padding\n'.repeat(18_000)}`;
  assert.ok(big.length > 1 << 20);
  await page.evaluate((value) => localStorage.setItem('ebb.build.', JSON.stringify(value)), big);
  await page.reload();
  await page.getByRole('alert').first().waitFor();
  assert.ok(await button('Register').isDisabled());
  assert.equal(await page.evaluate(() => JSON.parse(localStorage.getItem('ebb.build.')).length), big.length);
  await page.evaluate(() => localStorage.clear());
});

test('the file of a download is what the person sees: the list as lines, the definition as it is', async () => {
  await order({}, 'EXP-1');
  await open('instances?q=key:EXP-1');
  const list = page.waitForEvent('download');
  await button('Export').click();
  const rows = readFileSync(await (await list).path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(rows.map((row) => row.key), ['EXP-1']);
  await open('build/contract');
  const yaml = page.waitForEvent('download');
  await button('Download').click();
  const folder = join(real.folder, 'downloads');
  mkdirSync(folder);
  const file = join(folder, 'contract.yaml');
  writeFileSync(file, readFileSync(await (await yaml).path()));
  const checked = spawnSync(process.env.EBB_COMMAND, ['validate', file], { encoding: 'utf8', env: { ...process.env, EBB_DB: '' } });
  assert.equal(checked.status, 0, checked.stderr + checked.stdout);
});

test('rows that are selected are acted on together, and only those', async () => {
  const ids = [];
  for (const n of [1, 2, 3]) ids.push(await order({}, `SEL-${n}`));
  await open('instances?q=key:SEL-*');
  for (const key of ['SEL-1', 'SEL-3']) await page.getByLabel(`Select ${key}`, { exact: true }).check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Pause' }).click();
  await dialog().getByRole('button', { name: 'Pause 2 instances' }).click();
  await dialog().getByText('2 of 2 done').waitFor();
  const states = await Promise.all(ids.map(async (id) => (await real.api('GET', `/instances/${id}`)).status));
  assert.deepEqual(states, ['paused', 'running', 'paused']);
});

test('a login of another browser is ended, and that browser is asked to log in again', async () => {
  const other = await launch();
  try {
    const theirs = await other.context.newPage();
    await theirs.goto(real.link('operator'));
    await settled(theirs);
    await open('settings?tab=sessions');
    const rows = page.locator('tbody tr');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 2);
    const before = await rows.count();
    await button('End my other logins…').click();
    await dialog().getByRole('button', { name: /^End/ }).click();
    await page.waitForFunction((count) => document.querySelectorAll('tbody tr').length < count, before);
    await theirs.goto(`${real.address}instances`);
    await theirs.getByRole('heading', { name: 'Log in' }).waitFor();
    await page.reload();
    await page.getByText('(this browser)').waitFor();
  } finally {
    await other.close();
  }
});

test('columns of choice show what each instance waits for and why it failed', async () => {
  const id = await order({}, 'COL-1');
  await real.api('POST', `/instances/${id}/decide`, { verdict: 'confirm', role: 'boss' });
  await real.until(id, real.waits('signal'));
  await open('instances?q=key:COL-1&cols=status,key,waits');
  await page.locator('tbody tr', { hasText: 'COL-1' }).getByText('paid').waitFor();
  const failed = (await real.api('POST', '/instances', { workflow: 'order', key: 'COL-2', input: { order: 'COL-2', amount: 1, note: 'declined' } })).id;
  await real.until(failed, (view) => view.status === 'failed');
  await open('instances?q=step:charge%20status:failed&cols=key,error');
  await page.locator('tbody tr', { hasText: 'COL-2' }).getByText('card 4711 was declined').waitFor();
});
