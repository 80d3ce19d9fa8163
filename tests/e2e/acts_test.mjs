// What people do: each act with its preview, changes meanwhile, live updates, two tabs, a server that goes away,
// missing permissions, another base path, and the keyboard alone. No test waits for a time; each waits for what it means.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { ASSETS, launch, pagesOf, settled, SIZES, startMock, watch } from './browser.mjs';

let browser;
let mock;
let page;
let faults;
const opened = [];
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
beforeEach(() => use({}));
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await mock.close();
});

async function use(options, allow = []) {
  if (mock) await Promise.all([...opened.splice(0).map((one) => one.close()), mock.close()]);
  mock = await startMock({ assets: ASSETS, ...options });
  ({ page, faults } = await tab(allow));
}

async function tab(allow = []) {
  const page = await browser.context.newPage();
  opened.push(page);
  return { page, faults: await watch(page, new URL(mock.address).origin, [/40[0-9]|412|422|50[0-9]/, ...allow]) };
}

async function open(path) {
  await page.goto(mock.address + path);
  await settled(page);
}

const instance = (test) => mock.world.instances.find(test);
const live = (workflow, node) => instance((one) => one.status === 'running' && one.workflow === workflow && one.detail.waiting_for.some((wait) => wait.node === node));
const button = (name) => page.getByRole('button', { name, exact: true });

test('a cancel says what it will undo, in its order, and is done on the revision that was seen', async () => {
  const one = live('order', 'approve');
  await open(`instances/${one.id}`);
  await button('Cancel…').click();
  const sheet = page.getByRole('dialog');
  assert.deepEqual(await sheet.locator('ol.undo code').allInnerTexts(), ['refund', 'release']);
  await sheet.getByLabel('Reason').fill('ordered twice');
  await button('Cancel and undo 2 steps').click();
  await page.locator('main .status', { hasText: 'cancelled' }).first().waitFor();
  assert.equal(one.status, 'cancelled');
  assert.deepEqual(one.history.at(-1).payload, { reason: 'ordered twice' });
  assert.deepEqual(faults, []);
});

test('below the reason stand buttons for all that would unblock it, each for its node', async () => {
  const one = live('order', 'approve');
  const [first] = one.detail.waiting_for;
  one.detail.waiting_for = [first, { ...first, node: 'second_look' }, { ...first, kind: 'signal', node: 'paid', what: 'paid' }];
  await open(`instances/${one.id}`);
  const notice = page.locator('.notice').filter({ hasText: 'Why:' });
  await notice.getByRole('button').first().waitFor();
  assert.deepEqual(await notice.getByRole('button').allInnerTexts(), ['Confirm “approve”…', 'Reject “approve”…', 'Confirm “second_look”…', 'Reject “second_look”…', 'Send signal “paid”…']);
  await button('Reject “second_look”…').click();
  await page.getByRole('dialog').getByText('The decision at “second_look” is rejected.').waitFor();
  assert.deepEqual(faults, []);
});

test('an act on what has changed meanwhile does nothing and says so', async () => {
  const one = live('order', 'approve');
  await open(`instances/${one.id}`);
  await button('Pause').click();
  // Not before: the page may look again at any time, and would then see the change.
  await page.route(/\/pause$/, (route) => {
    mock.touch(one, 'signal_received', 'running', { payload: { by: 'shop' }, worker: 'user:ben' });
    return route.continue();
  });
  await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByText('The instance has changed meanwhile.').waitFor();
  await page.getByRole('alert').locator('li', { hasText: 'signal_received' }).getByText('user:ben').waitFor();
  assert.equal(one.status, 'running');
});

test('an act on what has changed meanwhile: what it was and is now, and who did it since; what was known before is not told again', async () => {
  const one = live('order', 'approve');
  await open(`instances/${one.id}`);
  await button('Abort…').click();
  await page.route(/\/abort$/, (route) => {
    mock.touch(one, 'paused', 'paused', { payload: { by: 'user:eve', reason: 'stock count' }, worker: null });
    return route.continue();
  });
  await button('Abort without undoing').click();
  const alert = page.getByRole('dialog').getByRole('alert');
  await alert.locator('li', { hasText: 'paused' }).getByText('user:eve').waitFor();
  assert.equal(await alert.locator('li').count(), 1);
  assert.deepEqual((await alert.locator('.status').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')), ['▸ running', '‖ paused']);
  assert.equal(one.status, 'paused');
});

test('a dead letter is retried with another input', async () => {
  const one = instance((row) => row.status === 'dead_letter' && row.steps.at(-1).status === 'failed');
  await open(`instances/${one.id}`);
  await button('Retry from here…').click();
  await page.getByLabel('Retry with another input').check();
  await page.getByLabel('Input', { exact: true }).fill('{"amount": ');
  await button('Retry from here').click();
  await page.getByText('This is not JSON.').waitFor();
  assert.equal(one.status, 'dead_letter');
  await page.getByLabel('Input', { exact: true }).fill('{"amount": 5}');
  await button('Retry from here').click();
  await page.locator('main .status', { hasText: 'running' }).first().waitFor();
  assert.deepEqual(one.history.at(-1).payload, { input: { amount: 5 } });
});

test('an act on all that match shows them first, and the server does it', async () => {
  const dead = () => mock.world.instances.filter((row) => row.status === 'dead_letter');
  const before = dead();
  await open('instances?q=status:dead_letter');
  await button('Act on all…').click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText(`${before.length} match now`).waitFor();
  await sheet.getByText('status == "dead_letter"').waitFor();
  assert.equal(dead().length, before.length, 'a preview changes nothing');
  await sheet.getByLabel('Action', { exact: true }).selectOption('Abort');
  await sheet.getByText(`${before.length} match now`).waitFor();
  await sheet.getByLabel('At most').fill('fast');
  // What has changed since the preview is not swept in.
  mock.touch(before[0], 'requeued', 'running');
  await sheet.getByRole('button', { name: `Abort ${before.length} instances` }).click();
  await sheet.getByText(`and ${before.length - 1} match`).waitFor();
  assert.equal(dead().length, before.length - 1);
  await sheet.getByRole('button', { name: 'Try again' }).click();
  await sheet.getByText(`${before.length - 1} match now`).waitFor();
  await sheet.getByRole('button', { name: `Abort ${before.length - 1} instances` }).click();
  await page.waitForURL(/bulk\/[0-9a-f-]{36}$/);
  await page.getByText(`${before.length - 1} of ${before.length - 1}`).waitFor();
  assert.deepEqual([dead().length, before.at(-1).status], [0, 'aborted']);
});

test('an act on all is offered where it is possible, and is done to those for which it is possible', async () => {
  const of = (status) => mock.world.instances.filter((row) => row.status === status);
  const [dead, failed] = [of('dead_letter'), of('failed')];
  await open('instances?q=status:dead_letter,failed');
  await button('Act on all…').click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText(`${dead.length + failed.length} match now`).waitFor();
  assert.deepEqual(await sheet.getByLabel('Action', { exact: true }).locator('option').allInnerTexts(), ['Retry', 'Start again', 'Cancel', 'Abort']);
  await sheet.getByText('“Start again” runs their work once more').waitFor();
  assert.deepEqual((await sheet.locator('.counts li').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')), [`${dead.length} ■ dead letter`, `${failed.length} ✗ failed left out`]);
  await sheet.getByText(`This is possible for ${dead.length} of them.`).waitFor();
  assert.deepEqual([...new Set(await sheet.locator('.which .status').allInnerTexts())].map((text) => text.replace(/\s+/g, ' ')), ['■ dead letter']);
  await sheet.getByLabel('Retry one first').uncheck();
  await button(`Retry ${dead.length} instances`).click();
  await page.waitForURL(/bulk\/[0-9a-f-]{36}$/);
  await page.getByText(`${dead.length} of ${dead.length}`).waitFor();
  await page.locator('main .status', { hasText: 'completed' }).waitFor();
  assert.deepEqual([of('dead_letter').length, of('failed').length], [0, failed.length]);
  // What has failed can only be started again, as new instances.
  await open('instances?q=status:failed');
  await button('Act on all…').click();
  await sheet.getByText(`${failed.length} match now`).waitFor();
  assert.deepEqual(await sheet.getByLabel('Action', { exact: true }).locator('option').allInnerTexts(), ['Start again']);
  await sheet.getByText('as a new instance with the same input').waitFor();
  await sheet.getByLabel('Retry one first').uncheck();
  await button(`Start ${failed.length} instances again`).click();
  await page.waitForURL(/bulk\/[0-9a-f-]{36}$/);
  await page.getByText(`${failed.length} of ${failed.length}`).waitFor();
  assert.equal(of('failed').length, failed.length);
  // Nothing is possible for what has completed.
  await open('instances?q=status:completed');
  await button('Act on all…').click();
  await sheet.getByText('No action is possible').waitFor();
  assert.equal(await sheet.getByLabel('Action', { exact: true }).count(), 0);
  assert.deepEqual(await sheet.getByRole('button').allInnerTexts(), ['Close', 'Close']);
  assert.deepEqual(faults, []);
});

test('a bulk operation that has done nothing does not look like a success', async () => {
  const answer = await fetch(`${mock.address}api/v1/bulk`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ action: 'requeue', where: 'status == "failed"' }) });
  const { id, skipped, skips } = await answer.json();
  assert.ok(skipped > 20);
  await open(`bulk/${id}`);
  await page.locator('main .status', { hasText: 'nothing done' }).waitFor();
  assert.equal(await page.locator('main').getByText('completed', { exact: true }).count(), 0);
  assert.equal(await page.locator('main progress').evaluate((bar) => bar.value), 0);
  assert.deepEqual(await page.locator('.skips a').allInnerTexts(), skips.map((one) => one.id), 'an id that one can look for');
  await open('bulk');
  await page.locator('tbody tr').first().locator('.status', { hasText: 'nothing done' }).waitFor();
  assert.deepEqual(faults, []);
});

test('a row opens wherever one clicks, but not where text is selected or a box is ticked', async () => {
  await open('instances');
  const [first, second] = await page.locator('tbody tr a.ink').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  const cell = (row, column) => page.locator('tbody tr').nth(row).locator('td').nth(column);
  const at = () => new URL(page.url()).pathname;
  // A word of the key is selected by dragging.
  const box = await page.locator('tbody tr td.mono:not(.gone)').filter({ hasText: /./ }).first().boundingBox();
  await page.mouse.move(box.x + 10, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await page.evaluate(() => getSelection().toString()), '');
  assert.equal(at(), '/instances');
  await page.evaluate(() => getSelection().removeAllRanges());
  await cell(0, 0).click({ position: { x: 2, y: 2 } });
  assert.equal(at(), '/instances', 'beside the box');
  // Beside it, as a link does.
  for (const options of [{ modifiers: ['Control'] }, { button: 'middle' }]) {
    const [other] = await Promise.all([browser.context.waitForEvent('page'), cell(1, 1).click(options)]);
    opened.push(other);
    await other.waitForURL((url) => url.pathname === second);
    assert.equal(at(), '/instances');
  }
  const [other] = await Promise.all([browser.context.waitForEvent('page'), page.locator('tbody tr a.ink').nth(1).click({ button: 'middle' })]);
  opened.push(other);
  await other.waitForURL((url) => url.pathname === second);
  await page.bringToFront();
  await cell(0, 1).click();
  await page.waitForURL((url) => url.pathname === first);
  // The keyboard.
  await page.goBack();
  await settled(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname === first);
  // Rows of other lists do the same.
  for (const [path, row] of [['', 'li.item'], ['', 'tbody tr:has(.lead)'], ['workflows', 'tbody tr'], ['bulk', 'tbody tr'], ['notifications', 'tbody tr']]) {
    await open(path);
    const link = page.locator(row).first().locator('.lead a').first();
    const to = await link.getAttribute('href');
    await page.locator(row).first().click({ position: { x: 4, y: 30 } });
    await page.waitForURL((url) => url.pathname + url.search === to);
  }
  assert.deepEqual(faults, []);
});

test('how many a filter finds is asked where the server counts, and is counted by reading elsewhere', async () => {
  const asked = () => mock.control.requests.filter((one) => /^GET \/instances\?/.test(one));
  await open('instances?q=status:dead_letter');
  assert.equal(await page.locator('main header .soft').first().innerText(), String(mock.world.instances.filter((row) => row.status === 'dead_letter').length));
  assert.ok(asked().some((one) => one.includes('count=exact')));
  mock.control.requests.length = 0;
  await open('instances?q=error:iban_invalid%20status:dead_letter');
  const found = mock.world.instances.filter((row) => row.status === 'dead_letter' && row.detail.error.code === 'iban_invalid');
  assert.equal(await page.locator('main header .soft').first().innerText(), String(found.length));
  assert.ok(asked().length > 0 && !asked().some((one) => one.includes('count=')), 'the server has no count of this');
  await open('instances?q=key:*');
  await page.getByText('50+').waitFor();
  assert.deepEqual(faults, []);
});

test('a bulk operation is paused, continued and ended, and says why it left instances alone', async () => {
  await open('bulk');
  await page.getByRole('link', { name: 'Retry', exact: true }).first().click();
  await page.getByText('7,702 of 12,480').waitFor();
  await page.getByText('can no longer be requeued').first().waitFor();
  await button('Pause').click();
  await page.locator('main .status', { hasText: 'paused' }).waitFor();
  await button('Continue').click();
  await button('End it here').click();
  await page.locator('main .status', { hasText: 'cancelled' }).waitFor();
  assert.equal(await button('Pause').count(), 0);
});

test('the pages of bulk operations follow what others do, and ask only when something has happened', async () => {
  const id = '019e2b6c-5a10-7c3e-9f00-000000000014';
  const steer = (verb) => fetch(`${mock.address}api/v1/bulk/${id}/${verb}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  await open(`bulk/${id}`);
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  await steer('pause');
  await page.locator('main .status', { hasText: 'paused' }).waitFor();
  await open('bulk');
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  const line = page.locator('tbody tr', { hasText: '7,702 of 12,480' });
  await line.getByText('paused').waitFor();
  await steer('resume');
  await line.getByText('running').waitFor();
  assert.deepEqual(faults, []);
});

test('a decision is confirmed with the keyboard alone', async () => {
  await open('decisions');
  const before = await page.locator('.inbox .item').count();
  await page.keyboard.press('j');
  await page.waitForFunction(() => document.querySelectorAll('.item')[1]?.getAttribute('aria-current') === 'true');
  await page.locator('.card .values dt').first().waitFor();
  await page.keyboard.press('c');
  await page.getByRole('dialog').getByLabel('Comment').fill('fine');
  await page.keyboard.press('Tab');
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction((count) => document.querySelectorAll('.inbox .item').length === count - 1, before);
  assert.deepEqual(faults, []);
});

test('a start form follows the input schema, and the findings of the server stand at their fields', async () => {
  await open('workflows/order');
  await button('Start…').click();
  await page.getByLabel('Amount').fill('-1');
  await button('Start').click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('This field is required.').first().waitFor();
  await sheet.getByText('At least 0.').waitFor();
  await page.getByLabel('Order number').fill('SO-77');
  await page.getByLabel('Amount').fill('12.5');
  await button('Start').click();
  await page.waitForURL(/instances\/[0-9a-f-]{36}/);
  assert.deepEqual(mock.world.instances[0].detail.input, { order: 'SO-77', amount: 12.5 });
});

test('the filter is text and chips at once, and shows what is wrong under the word', async () => {
  await open('instances');
  const box = page.getByRole('combobox', { name: 'Filter' });
  await box.fill('status:dead_leter');
  await page.getByText('Not a status.').waitFor();
  await box.fill('status:dead_letter workflow:order');
  await box.press('Enter');
  await page.waitForURL(/q=status/);
  await page.waitForFunction(() => [...document.querySelectorAll('tbody tr')].every((row) => row.innerText.includes('dead letter') && row.innerText.includes('order')));
  await page.getByRole('button', { name: 'Remove workflow:order' }).click();
  await page.waitForFunction(() => document.querySelector('tbody')?.innerText.includes('expenses'));
});

test('a list goes on when one scrolls, and new rows do not move what one reads', async () => {
  await open('instances');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 50);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 100);
  // The row's address; its text goes with the time.
  const firstRow = () => page.locator('tbody tr').first().locator('a').first().getAttribute('href');
  const first = await firstRow();
  const one = mock.world.add('order', Date.now(), { stop: 'charge' });
  mock.world.instances.unshift(mock.world.instances.pop());
  mock.publish(one);
  await page.getByRole('button', { name: '1 new' }).waitFor();
  assert.equal(await firstRow(), first);
  await page.getByRole('button', { name: '1 new' }).click();
  await page.locator('tbody tr').first().getByText(one.key).waitFor();
});

test('the page of an instance follows what happens', async () => {
  const one = live('order', 'approve');
  await open(`instances/${one.id}?tab=history`);
  await page.locator('.event').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  mock.touch(one, 'signal_received', 'running', { payload: { by: 'test' } });
  // The type is in the list of types as well.
  await page.locator('.event', { hasText: 'signal_received' }).waitFor();
});

test('two tabs share one stream, and the second takes over when the first is closed', async () => {
  const first = page;
  await open('instances');
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  ({ page } = await tab());
  await open('queues');
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  // The leader's stream carries the topics of both tabs; one that it replaced may still be closing.
  const carriesBoth = (stream) => stream.topics.includes('queues') && stream.topics.some((topic) => topic.startsWith('list:'));
  await mock.until(() => mock.streams.size === 1 && [...mock.streams].every(carriesBoth));
  const before = [...mock.streams];
  opened.splice(opened.indexOf(first), 1);
  await first.close();
  // The second tab leads now, with a stream of its own; every change from here on reaches the page.
  await mock.until(() => [...mock.streams].some((stream) => !before.includes(stream) && stream.topics.includes('queues')));
  mock.world.queues[0].waiting = 4711;
  mock.publish(mock.world.instances[0]);
  await page.getByText('4,711').waitFor();
});

test('a server that goes away: the page stays, acts are disabled, and it comes back by itself', async () => {
  await use({}, [/Failed to load|ERR_/]);
  const one = live('order', 'approve');
  await open(`instances/${one.id}`);
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  mock.control.away = true;
  for (const stream of mock.streams) stream.response.destroy();
  await page.getByRole('status').filter({ hasText: 'The server does not answer.' }).waitFor();
  await page.getByRole('heading', { name: one.key }).waitFor();
  await button('Cancel…').click();
  assert.ok(await button('Cancel and undo 2 steps').isDisabled());
  mock.control.away = false;
  await page.getByRole('status').filter({ hasText: 'The server does not answer.' }).waitFor({ state: 'detached', timeout: 40_000 });
  assert.ok(await button('Cancel and undo 2 steps').isEnabled());
});

test('an operator starts failed work again, once and with the stored input, and comes to the new instance', async () => {
  await use({ role: 'operator' });
  const one = instance((row) => row.status === 'failed' && row.workflow === 'order');
  const sheet = page.getByRole('dialog');
  await open(`instances/${one.id}`);
  const before = structuredClone([one.status, one.revision, one.history.length]);
  await button('Start again…').click();
  await sheet.getByText('with the newest version of the workflow, the stored input').waitFor();
  assert.equal(await button('With another input…').count(), 0, 'other work needs the permission to start it');
  await sheet.getByText('The same as a command').click();
  assert.equal(await sheet.locator('pre').first().innerText(), `ebb rerun ${one.id} --key rerun:${one.id}`);
  await sheet.getByRole('button', { name: 'Start again', exact: true }).click();
  await page.waitForURL((url) => /instances\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(one.id));
  const made = instance((row) => row.key === `rerun:${one.id}`);
  assert.ok(page.url().endsWith(made.id));
  assert.equal(await sheet.count(), 0);
  const labels = { ...one.labels, 'ebb.rerun_of': one.id };
  assert.deepEqual([made.detail.input, made.labels, made.priority], [one.detail.input, labels, one.priority]);
  assert.deepEqual([one.status, one.revision, one.history.length], before);
  // The second time, nothing new starts.
  await open(`instances/${one.id}`);
  await button('Start again…').click();
  await sheet.getByRole('button', { name: 'Start again', exact: true }).click();
  await page.getByText('This work had already been started again, as this instance.').waitFor();
  assert.ok(page.url().endsWith(made.id));
  // Only what has ended without success.
  for (const status of ['running', 'completed', 'dead_letter']) {
    await open(`instances/${instance((row) => row.status === status).id}`);
    assert.equal(await button('Start again…').count(), 0, status);
  }
  assert.deepEqual(faults, []);
});

test('a person who may start can start failed work again with another input', async () => {
  await use({ role: 'developer' });
  const one = instance((row) => row.status === 'failed' && row.workflow === 'order');
  await open(`instances/${one.id}`);
  await button('Start again…').click();
  await button('With another input…').click();
  const sheet = page.getByRole('dialog', { name: 'Start order' });
  await button('JSON').click();
  assert.deepEqual(JSON.parse(await sheet.getByLabel('Input').inputValue()), one.detail.input);
  await sheet.getByLabel('Input').fill(JSON.stringify({ ...one.detail.input, order: 'SO-AGAIN' }));
  await button('Start').click();
  await page.waitForURL((url) => !url.pathname.endsWith(one.id));
  assert.equal(instance((row) => page.url().endsWith(row.id)).detail.input.order, 'SO-AGAIN');
  // A stand-in is not sent as if it were the value.
  one.detail.input = { ...one.detail.input, card: '•••' };
  for (const input of [one.detail.input, { $truncated: true, bytes: 70_000, href: '' }]) {
    one.detail.input = input;
    await open(`instances/${one.id}`);
    await button('Start again…').click();
    await button('With another input…').click();
    await sheet.getByText('Not all of the stored input is shown here.').waitFor();
  }
  await button('JSON').click();
  assert.equal(await sheet.getByLabel('Input').inputValue(), '{}');
  // What has not failed starts again from the form at once.
  await open(`instances/${instance((row) => row.status === 'completed' && row.workflow === 'order').id}`);
  await button('Start again…').click();
  await sheet.waitFor();
  assert.equal(await sheet.getByText('Not all of the stored input').count(), 0);
  assert.deepEqual(faults, []);
});

test('who may only look sees no act, and a refusal says who can grant it', async () => {
  await use({ role: 'viewer' });
  await open(`instances/${live('order', 'approve').id}`);
  for (const name of ['Cancel…', 'Abort…', 'Pause', 'Confirm', 'Start again…']) assert.equal(await button(name).count(), 0, name);
  mock.control.problem = new mock.Problem(403, 'not_allowed', 'You may not see queues.');
  mock.control.fail = /\/queues/;
  await page.goto(mock.address + 'queues');
  await page.getByText('You may not see this.').waitFor();
});

test('an error says what, why and the request, and can be tried again', async () => {
  mock.control.fail = /\/workers$/;
  await page.goto(mock.address + 'workers');
  await page.getByText('That did not work.').waitFor();
  await page.getByText('Request 019e2b6c').waitFor();
  mock.control.fail = null;
  const shown = page.getByText('pay-1').first().waitFor();
  // The page may be quicker with a look of its own: then the button is gone.
  await Promise.race([button('Try again').click().catch(() => {}), shown]);
  await shown;
});

test('everything works below another base path', async () => {
  await use({ base: '/tools/ebb/' });
  await open('');
  await page.getByRole('link', { name: 'Instances', exact: true }).click();
  await page.waitForURL(/\/tools\/ebb\/instances$/);
  await page.locator('tbody tr').first().waitFor();
  await page.reload();
  await page.locator('tbody tr').first().waitFor();
  assert.deepEqual(faults, []);
});

test('limits of a queue are changed in place', async () => {
  await open('queues');
  await page.getByRole('button', { name: 'Limits for queue payments' }).click();
  await page.getByLabel('At once', { exact: true }).fill('8');
  await button('Set limits').click();
  await page.locator('tr', { hasText: 'payments' }).getByRole('img', { name: '4 of 8 in use' }).waitFor();
  assert.equal(mock.world.queues.find((queue) => queue.name === 'payments').concurrency, 8);
});

test('the palette finds a key and goes there', async () => {
  await open('');
  const one = instance((row) => row.key?.startsWith('k7-'));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill(one.key);
  await page.getByRole('option', { name: one.key }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(one.id));
  // The beginning of a key is enough, and an instance is found once.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill(one.key.slice(0, -1));
  const hits = page.getByRole('option').filter({ hasText: 'order v' });
  await hits.filter({ hasText: one.key }).waitFor();
  const keys = await hits.locator('.grow').allInnerTexts();
  assert.ok(keys.every((key) => key.startsWith(one.key.slice(0, -1))) && new Set(keys).size === keys.length, keys.join());
  assert.deepEqual(faults, []);
});

/** Opens the group with the most dead letters, and says which instances it has. */
async function openGroup() {
  await open('failures?status=dead_letter');
  await page.locator('.line').first().click();
  const group = new URL(page.url()).searchParams.get('group');
  const of = async (path) => (await fetch(`${mock.address}api/v1${path}`)).json();
  const { items } = await of(`/failures/${group}?status=dead_letter&limit=200`);
  return { items, group: (await of('/failures/groups?status=dead_letter')).items.find((one) => one.group === group) };
}
/** Presses "Retry one first" and lets that one complete. */
async function tryFirst(items) {
  await button('Retry one first').click();
  const first = instance((row) => row.id === items[0].instance);
  await mock.until(() => first.status === 'running');
  mock.touch(first, 'instance_completed', 'completed');
  await page.getByText('It completed.').waitFor();
}

test('a group of failures says how it grows, since when, in which versions, and names its instances', async () => {
  const { items, group } = await openGroup();
  await page.locator('.one').first().waitFor();
  assert.equal(await page.locator('.one').count(), items.length);
  assert.equal(await page.locator('.one a').first().innerText(), items[0].key);
  const facts = await page.locator('.about .facts').innerText();
  assert.ok(facts.includes(group.versions.map((version) => `v${version}`).join(', ')), facts);
  const day = items.filter((one) => Date.parse(one.at) > Date.now() - 864e5).length;
  await page.getByText(`${day} in the last 24 h`).waitFor();
  await page.getByRole('link', { name: `Event ${items[0].event}` }).first().click();
  await page.waitForURL(new RegExp(`${items[0].instance}\\?tab=history&seq=${items[0].event}`));
  await page.goto(`${mock.address}failures?group=0000000000000000`);
  await page.getByText('No instance fails like this any more.').waitFor();
});

test('a group of failures: how many and which is said before, one is tried first, then all others', async () => {
  const { items } = await openGroup();
  await page.getByRole('button', { name: /^Retry one, then all/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('heading', { name: `${items.length} instances` }).waitFor();
  assert.deepEqual(await sheet.locator('.which a').allInnerTexts(), items.map((one) => one.key ?? one.instance.slice(-12)));
  assert.equal(mock.control.requests.filter((one) => one.startsWith('POST')).length, 0);
  await tryFirst(items);
  await page.getByRole('button', { name: /^Retry the other/ }).click();
  await page.getByText(`${items.length} of ${items.length} done`).waitFor();
  assert.deepEqual(faults, []);
});

test('a trial that fails again says with what', async () => {
  const { items } = await openGroup();
  await page.getByRole('button', { name: /^Retry one, then all/ }).click();
  await button('Retry one first').click();
  const first = instance((row) => row.id === items[0].instance);
  await mock.until(() => first.status === 'running');
  first.detail.error = { step: 'ship', code: 'timeout', message: 'The carrier did not answer' };
  mock.touch(first, 'instance_failed', 'dead_letter');
  await page.getByText('It failed again, in another way.').waitFor();
  await page.getByRole('dialog').getByText('The carrier did not answer').waitFor();
});

test('a bulk act skips what the server refuses, stops while the server is away, and goes on', async () => {
  const { items } = await openGroup();
  await page.getByRole('button', { name: /^Retry one, then all/ }).click();
  await tryFirst(items);
  mock.control.fail = new RegExp(`${items[1].instance}/requeue`);
  mock.control.problem = new mock.Problem(409, 'invalid_state', 'The instance is cancelled.');
  await page.getByRole('button', { name: /^Retry the other/ }).click();
  await page.getByText(`${items.length - 1} of ${items.length} done, 1 skipped`).waitFor();
  await page.getByRole('dialog').getByText('The instance is cancelled.').waitFor();
  mock.control.problem = new mock.Problem(503, 'unavailable', 'The store does not answer.');
  await button('Try the skipped one again').click();
  await page.getByRole('dialog').getByText('The store does not answer.').waitFor();
  mock.control.fail = null;
  await button('Continue with the other one').click();
  await page.getByText(`${items.length} of ${items.length} done`).waitFor();
  assert.equal(instance((row) => row.id === items[1].instance).status, 'running');
});

test('a history of 40,000 events is windowed, and an event has an address', async () => {
  await use({ history: 40_000 });
  const one = instance((row) => row.key === 'long');
  await open(`instances/${one.id}?tab=history&seq=31234`);
  await page.getByRole('heading', { name: 'Event 31234' }).waitFor();
  await page.locator('#event-31234').waitFor();
  assert.ok((await page.locator('.event').count()) < 120);
  await button('To the end').click();
  await page.locator('#event-40000').waitFor();
  await page.setViewportSize(SIZES.phone);
  await open(`instances/${one.id}?tab=history&seq=20`);
  await page.locator('#event-20').waitFor();
  assert.ok((await page.locator('.event').count()) < 120, 'on a phone too');
});

test('the builder: what is done on the picture changes the text, can be undone, and is kept as a draft', async () => {
  await open('build/order');
  const text = page.locator('.cm-content');
  await page.locator('svg .node', { hasText: 'charge' }).first().click();
  await page.waitForURL(/node=charge/);
  await page.getByLabel('timeout', { exact: true }).fill('5s');
  await page.getByLabel('timeout', { exact: true }).press('Enter');
  await text.getByText('timeout: "5s"').waitFor();
  await page.getByLabel('Kind of node').selectOption('delay');
  await button('Add after charge').click();
  await text.getByText('- delay: delay').waitFor();
  await button('Undo').click();
  await text.getByText('- delay: delay').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByText('Your draft from last time').waitFor();
  // The editor has only the lines that are in view.
  await page.locator('svg .node', { hasText: 'charge' }).first().click();
  await text.getByText('timeout: "5s"').waitFor();
  await button('Discard changes').click();
  await text.getByText('timeout: "5s"').waitFor({ state: 'detached' });
  assert.deepEqual(faults, []);
});

test('the builder shows a problem at its line and its node', async () => {
  await open('build');
  await page.locator('.cm-content').fill('workflow: hello\nsteps:\n  - step: greet\n    stp: 1\n');
  await page.getByRole('button', { name: '4:1 greet' }).click();
  await page.waitForURL(/node=greet/);
  await page.locator('svg .node.s-failed', { hasText: 'greet' }).waitFor();
  assert.ok(await button('Register').isDisabled());
});

test('the builder says what an expression yields while it is typed', async () => {
  await open('build/expenses?node=large');
  const when = page.getByLabel('when', { exact: true });
  await when.waitFor();
  await page.getByLabel('Sample input').fill('{"amount": 700}');
  const tried = page.locator('.field', { has: when }).locator('.tried');
  await tried.getByText('= true').waitFor();
  // Before it is in the text.
  await when.fill('input.amount > 900');
  await tried.getByText('= false').waitFor();
  await when.fill('input.amount >');
  await tried.locator('.s-failed').waitFor();
  await when.press('Escape');
  await page.getByLabel('Sample input').fill('{"amount": ');
  await page.getByText(/This is not JSON/).waitFor();
  await page.getByLabel('Sample input').fill('{"amount": 1}');
  await when.fill('input.amount + 1');
  await tried.getByText('= 2').waitFor();
  assert.deepEqual(faults, []);
});

test('tasks that do not start say why and since when', async () => {
  mock.world.delayed.push({ workflow: 'order', handler: 'charge', queue: 'payments', tasks: 37, since: new Date(Date.now() - 5 * 60_000).toISOString(), reason: 'queue_full', instance: mock.world.instances[0].id });
  await open('');
  const row = page.getByRole('listitem').filter({ hasText: 'tasks for “charge” do not start' });
  await row.waitFor();
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /37 tasks for “charge” do not start All slots of the queue “payments” are in use\. order for 5 m/);
  await row.getByRole('link', { name: 'tasks for “charge” do not start' }).click();
  await page.waitForURL(/\/queues$/);
  mock.world.delayed.pop();
});

test('the picture has a twin for the keyboard', async () => {
  await open(pagesOf(mock.world)['instance-graph']);
  await page.getByRole('button', { name: 'List', exact: true }).click();
  const tree = page.getByRole('tree');
  await tree.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/step=/);
  await page.locator('aside.panel h2').waitFor();
});

test('a phone shows the inbox, then the one decision', async () => {
  await page.setViewportSize(SIZES.phone);
  await open('decisions');
  assert.equal(await page.locator('.card').isVisible(), false);
  await page.locator('.item').first().click();
  await page.locator('.card').waitFor();
  assert.equal(await page.locator('.inbox').isVisible(), false);
});

test('the times above a timeline do not run into each other, at no size', async () => {
  for (const size of Object.values(SIZES)) {
    await page.setViewportSize(size);
    for (const name of ['instance-timeline', 'instance-dead', 'instance-waiting']) {
      await open(pagesOf(mock.world)[name]);
      await page.locator('.tick').first().waitFor();
      const boxes = await page.locator('.tick').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => ({ left, right })));
      const right = await page.locator('.timeline').evaluate((one) => one.getBoundingClientRect().right);
      boxes.forEach((box, i) => assert.ok(box.right <= (boxes[i + 1]?.left ?? right + 1), `${name}, ${size.width}: ${JSON.stringify(boxes)}`));
    }
  }
});

test('an instance is shown as the API has it, and its trouble is copied as the text of an issue', async () => {
  const dead = instance((row) => row.status === 'dead_letter' && row.workflow === 'order');
  await page.addInitScript(() => {
    navigator.clipboard.writeText = async (text) => void (globalThis.copied = text);
  });
  await open(`instances/${dead.id}?tab=raw`);
  const shown = JSON.parse(await page.locator('[role=tabpanel] pre').innerText());
  assert.deepEqual([shown.id, shown.status, shown.steps.length], [dead.id, 'dead_letter', dead.steps.length]);
  assert.match(await page.getByRole('link', { name: 'The same from the API' }).getAttribute('href'), new RegExp(`/api/v1/instances/${dead.id}$`));
  await page.getByRole('button', { name: 'Copy as issue', exact: true }).click();
  const text = await page.evaluate(() => globalThis.copied);
  assert.match(text, /^### order \/ /);
  for (const part of [`/instances/${dead.id}`, '```', dead.detail.error.message, 'dead letter']) assert.ok(text.includes(part), `${part}: ${text}`);
});

test('an instance that is moved out is downloaded', async () => {
  const row = instance((one) => one.status === 'running' && one.workflow === 'order');
  await open(`instances/${row.id}`);
  await page.getByRole('button', { name: 'Move out…', exact: true }).click();
  await page.getByText('It stops here and becomes a file').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Move out and download', exact: true }).click();
  assert.equal((await download).suggestedFilename(), `order-${row.id}.json`);
  assert.equal(row.status, 'moved');
});

/** An instance of the mock with rules: attributes, and two writes. */
function withRules() {
  const one = live('order', 'approve');
  one.detail.attributes = { phase: 'asked', room: null, guests: 1 };
  mock.touch(one, 'attributes_written', 'running', { payload: { values: { guests: 2 }, was: { guests: 1 }, by: 'user:ben' } });
  one.detail.attributes.guests = 2;
  mock.touch(one, 'attributes_written', 'running', { payload: { values: { phase: 'reserve' }, was: { phase: 'asked' }, by: 'user:ben' } });
  one.detail.attributes.phase = 'reserve';
  return one;
}

test('attributes are written: the present ones are shown, a wrong one is named, and the request is done once', async () => {
  const one = withRules();
  await open(`instances/${one.id}`);
  await button('Write…').click();
  const sheet = page.getByRole('dialog');
  await sheet.locator('.payload').getByText('reserve').waitFor();
  await sheet.getByLabel('Values to write').fill('{"rooms": 3}');
  await sheet.getByRole('button', { name: 'Write', exact: true }).click();
  await sheet.getByText('The workflow has no attribute "rooms".').waitFor();
  await sheet.getByLabel('Values to write').fill('{"room": "12"}');
  await sheet.getByText('The same as a command').click();
  await sheet.getByText(`ebb write ${one.id} --values '{"room":"12"}'`).waitFor();
  await sheet.getByRole('button', { name: 'Write', exact: true }).click();
  await sheet.waitFor({ state: 'detached' });
  assert.deepEqual(one.detail.attributes, { phase: 'reserve', room: '12', guests: 2 });
  assert.deepEqual(one.history.at(-1).payload.values, { room: '12' });
});

test('an instance is taken back to an earlier write, which is chosen by what it was and when', async () => {
  const one = withRules();
  const [first, second] = one.history.filter((event) => event.type === 'attributes_written');
  await open(`instances/${one.id}`);
  await button('Take back…').click();
  const sheet = page.getByRole('dialog');
  const options = await sheet.getByLabel('Back to').locator('option').allInnerTexts();
  assert.deepEqual(options.map((text) => Number(/\d+/.exec(text)[0])), [second.seq, first.seq, 1], 'the newest first, the start last');
  await sheet.getByLabel('Back to').selectOption(String(first.seq));
  await sheet.getByLabel('Do not check the conditions; leave it to an operator').check();
  await sheet.getByRole('button', { name: 'Take back', exact: true }).click();
  await sheet.waitFor({ state: 'detached' });
  assert.deepEqual(one.history.at(-1).payload, { to: first.seq, then: 'stop', by: 'user:ann' });
  assert.equal(one.detail.attributes.phase, 'asked');
});

test('who may not write or move an instance has no button for it', async () => {
  await use({ role: 'approver' });
  const one = withRules();
  await open(`instances/${one.id}`);
  for (const name of ['Write…', 'Take back…', 'Move out…']) assert.equal(await button(name).count(), 0, name);
});

test('what is related: its key elsewhere, its failure, bulk acts, deliveries, and other systems', async () => {
  const one = instance((row) => row.status === 'failed' && row.workflow !== 'shipment' && mock.access.deliveries.some((delivery) => delivery.key.includes(row.id)));
  const other = instance((row) => row.workflow === 'shipment');
  other.key = one.key ??= 'shared-key';
  mock.touch(one, 'paused', one.status, { payload: { by: 'user:ben (bulk 019e2b6c-5a10-7c3e-9f00-000000000012)', reason: 'bank is down' } });
  await open(`instances/${one.id}`);
  await page.getByRole('tab', { name: 'Related' }).click();
  const panel = page.getByRole('tabpanel');
  await panel.getByRole('link', { name: 'shipment' }).waitFor();
  assert.equal(await panel.getByRole('link', { name: 'Logs' }).getAttribute('href'), `https://logs.example/search?q=${one.id}`);
  assert.equal(await panel.getByRole('link', { name: 'Trace' }).getAttribute('href'), `https://traces.example/trace/${one.id.replaceAll('-', '')}`);
  assert.equal(await panel.getByRole('link', { name: 'Logs' }).getAttribute('rel'), 'noopener noreferrer');
  await panel.locator('li', { hasText: 'paused' }).getByText('user:ben').waitFor();
  await panel.locator('a[href$="/bulk/019e2b6c-5a10-7c3e-9f00-000000000012"]').waitFor();
  await panel.getByRole('heading', { name: 'Deliveries' }).waitFor();
  await panel.getByRole('link', { name: 'The whole group' }).click();
  await page.waitForURL(/failures\?group=[0-9a-f]{16}/);
  assert.deepEqual(faults, []);
});

test('an instance to which nothing is related says so, and who may not see webhooks sees no deliveries', async () => {
  await use({ role: 'operator' });
  const alone = instance((row) => row.workflow === 'nightly-report' && row.status === 'completed');
  await open(`instances/${alone.id}?tab=related`);
  await page.getByText('No other instance has its key or its failure').waitFor();
  const sent = instance((row) => mock.access.deliveries.some((delivery) => delivery.key.includes(row.id)));
  await open(`instances/${sent.id}?tab=related`);
  await page.getByRole('heading', { name: 'Failed in the same way' }).waitFor();
  assert.equal(await page.getByRole('heading', { name: 'Deliveries' }).count(), 0);
});

test('the palette offers the acts of the page below it', async () => {
  const one = live('order', 'approve');
  await open(`instances/${one.id}`);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('cancel');
  await page.getByRole('option', { name: /Cancel….*on this page/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('heading', { name: 'Cancel this instance' }).waitFor();
});

test('the words of a quiet button begin where the lines above it begin', async () => {
  const one = instance((row) => row.status === 'failed' && row.workflow === 'order');
  await open(`instances/${one.id}`);
  const lefts = await page.evaluate(() => {
    const leftOf = (node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getBoundingClientRect().left;
    };
    return [document.querySelector('.notice .lead'), document.querySelector('.notice .unblock .button')].map(leftOf);
  });
  assert.ok(Math.abs(lefts[0] - lefts[1]) <= 1, `${lefts}`);
});
