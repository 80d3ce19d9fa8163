// What people choose: rows for one act on all of them, views, versions, runs to compare, outcomes of a rehearsal, and acts of
// the palette. No test waits for a time; each waits for what it means.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { ASSETS, launch, pagesOf, settled, startMock, watch } from './browser.mjs';

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
  faults = await watch(page, new URL(mock.address).origin, [/40[0-9]|50[0-9]/]);
});
afterEach(async () => {
  await page.close();
  await mock.close();
});

async function open(path) {
  await page.goto(mock.address + path);
  await settled(page);
}

const instance = (test) => mock.world.instances.find(test);
const live = (workflow, node) => instance((one) => one.status === 'running' && one.workflow === workflow && one.detail.waiting_for.some((wait) => wait.node === node));
const button = (name) => page.getByRole('button', { name, exact: true });

test('a selection offers what fits it, says how many, skips what is refused, and tells the rest', async () => {
  await open('instances?q=status:running,dead_letter%20workflow:order');
  const rows = mock.world.instances.filter((row) => row.workflow === 'order' && ['running', 'dead_letter'].includes(row.status)).slice(0, 50);
  const running = rows.filter((row) => row.status === 'running').slice(0, 2);
  const dead = rows.find((row) => row.status === 'dead_letter');
  for (const row of [...running, dead]) await page.getByLabel(`Select ${row.key}`, { exact: true }).check();
  const bar = page.getByRole('toolbar', { name: 'Selected instances' });
  await bar.getByRole('button', { name: /^Retry from here….1$/ }).waitFor();
  assert.equal(await bar.getByRole('button', { name: 'Resume' }).count(), 0, 'none of them is paused');
  await bar.getByRole('button', { name: /^Pause.2$/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('1 of the selected instances is in a state').waitFor();
  assert.deepEqual(await sheet.locator('.which a').allInnerTexts(), running.map((row) => row.key));
  mock.control.fail = new RegExp(`${running[1].id}/pause`);
  mock.control.problem = new mock.Problem(409, 'invalid_state', 'The instance is completed.');
  await sheet.getByRole('button', { name: 'Pause 2 instances' }).click();
  await sheet.getByText('1 of 2 done, 1 skipped').waitFor();
  await sheet.getByText('The instance is completed.').waitFor();
  assert.deepEqual(running.map((row) => row.status), ['paused', 'running']);
});

test('a signal to a selection says its name and payload once for all', async () => {
  await open('instances?q=status:running%20workflow:order');
  const two = mock.world.instances.filter((row) => row.workflow === 'order' && row.status === 'running').slice(0, 2);
  for (const row of two) await page.getByLabel(`Select ${row.key}`, { exact: true }).check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Send signal…' }).click();
  const send = page.getByRole('dialog').getByRole('button', { name: 'Send the signal to 2 instances' });
  assert.ok(await send.isDisabled(), 'a signal needs a name');
  await page.getByLabel('Signal', { exact: true }).fill('paid');
  await page.getByLabel('Payload').fill('{"by": ');
  await page.getByText('This is not JSON.').waitFor();
  assert.ok(await send.isDisabled());
  await page.getByLabel('Payload').fill('{"by": "card"}');
  await send.click();
  await page.getByText('2 of 2 done').waitFor();
  for (const row of two) assert.deepEqual(row.history.at(-1).payload, { by: 'card' });
  assert.deepEqual(faults, []);
});

test('a view is saved under a name, found again after a reload, and removed', async () => {
  await open('instances?q=status:dead_letter%20workflow:order');
  await button('Save as view').click();
  await page.getByLabel('Name of the view').fill('my orders');
  await button('Save').click();
  await open('instances');
  await page.getByRole('button', { name: 'my orders' }).click();
  await page.waitForURL(/dead_letter/);
  await button('Remove view').click();
  await page.getByRole('button', { name: 'my orders' }).waitFor({ state: 'detached' });
});

test('a view is shared and no longer shared; the ones of others are marked and cannot be removed', async () => {
  await open('instances?q=status:dead_letter%20workflow:order');
  await button('Save as view').click();
  await page.getByLabel('Name of the view').fill('ours');
  await button('Save').click();
  await button('Share with everyone').click();
  await page.getByRole('button', { name: 'ours · shared' }).waitFor();
  assert.deepEqual(mock.access.views.map(({ name, owner, query, is_shared }) => [name, owner, query, is_shared]).filter(([name]) => name === 'ours'), [
    ['ours', 'user:ann', 'q=status%3Adead_letter+workflow%3Aorder', true],
  ]);
  await button('Stop sharing').click();
  await button('ours').waitFor();
  await page.getByRole('button', { name: 'cards refused · user:ben' }).click();
  await page.waitForURL(/sort=created/);
  assert.equal(await page.getByRole('combobox', { name: 'Order' }).inputValue(), 'created');
  await button('Stop sharing').waitFor({ state: 'detached' });
  assert.equal(await button('Remove view').count(), 0);
  assert.deepEqual(faults, []);
});

test('views that this browser has kept become views of the server', async () => {
  await page.addInitScript(() => localStorage.setItem('ebb.views', JSON.stringify([{ name: 'old/one', q: 'status:failed', cols: 'status,key' }])));
  await open('instances');
  await button('old-one').waitFor();
  assert.equal(mock.access.views.find((view) => view.name === 'old-one').query, 'q=status%3Afailed&cols=status%2Ckey');
  assert.equal(await page.evaluate(() => localStorage.getItem('ebb.views')), null);
});

test('the oldest come first if one asks for it, also page after page and in the address', async () => {
  const ids = () => page.locator('tbody tr td.mono a').evaluateAll((links) => links.map((link) => link.title));
  const oldest = mock.world.instances.map((row) => row.id).sort();
  await open('instances');
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Oldest first');
  await page.waitForURL(/sort=created/);
  await page.waitForFunction((id) => document.querySelector('tbody tr td.mono a')?.title === id, oldest[0]);
  await page.locator('tbody tr').last().scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length >= 100);
  assert.deepEqual((await ids()).slice(0, 100), oldest.slice(0, 100));
  await page.reload();
  await page.waitForFunction((id) => document.querySelector('tbody tr td.mono a')?.title === id, oldest[0]);
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Newest first');
  await page.waitForFunction((id) => document.querySelector('tbody tr td.mono a')?.title === id, oldest.at(-1));
  assert.ok(!page.url().includes('sort='));
  assert.deepEqual(faults, []);
});

test('the palette does acts, and knows what was looked at', async () => {
  const one = live('order', 'approve');
  await open(`instances/${one.id}`);
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: `order · ${one.key}` }).waitFor();
  await page.getByRole('combobox').fill('dark');
  await page.getByRole('option', { name: 'Dark colors' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await page.evaluate(() => localStorage.clear());
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('start an');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('heading', { name: 'Start an instance' }).waitFor();
});

test('a queue says why what waits in it does not start, and stands on top', async () => {
  await open('queues');
  assert.deepEqual(await page.locator('tbody .lead').allInnerTexts().then((names) => names.slice(0, 2)), ['carriers', 'payments']);
  await page.locator('tr', { hasText: 'carriers' }).getByRole('link', { name: 'no worker for it' }).waitFor();
  mock.world.queues.find((queue) => queue.name === 'default').concurrency = 0;
  await page.reload();
  await page.locator('tr', { hasText: 'default' }).getByText('stopped').waitFor();
});

test('two versions: the nodes that differ are named, and marked in the picture', async () => {
  await open('workflows/order?tab=versions');
  await page.getByRole('list', { name: 'What changes' }).getByText('close_order').waitFor();
  await page.locator('svg .node.added', { hasText: 'close_order' }).waitFor();
});

test('a comparison names the step at which two runs part, not one that was undone for it', async () => {
  await open(pagesOf(mock.world).compare);
  const [, a, b] = /instances\/([^/]+)\/compare\/(.+)/.exec(pagesOf(mock.world).compare);
  const failed = instance((row) => row.id === a).detail.error.step;
  await page.getByText(`The runs part at “${failed}”.`).waitFor();
  assert.equal(await page.locator('tr.first td').first().innerText(), failed);
  await page.getByRole('link', { name: 'Swap sides' }).click();
  await page.waitForURL(new RegExp(`${b}/compare/${a}`));
});

test('a rehearsal shows what would be undone and what would stay, on the picture and in words', async () => {
  await open('build/order');
  await button('Rehearse').click();
  await page.getByText('What would happen').waitFor();
  await page.locator('.rehearsal .status', { hasText: 'completed' }).first().waitFor();
  await page.getByLabel('How ship ends', { exact: true }).selectOption('fails for good');
  await page.getByText('pack → charge → reserve').waitFor();
  await page.getByText(/^■ What these steps did stays: .*print_invoice/).waitFor();
  await page.locator('svg .node.s-compensated', { hasText: 'reserve' }).waitFor();
  await page.locator('svg .node.s-failed', { hasText: 'ship' }).waitFor();
  const sent = JSON.parse(await page.evaluate(() => localStorage.getItem('ebb.rehearsal.order')));
  assert.equal(sent.outcomes.ship, 'fail_for_good');
  await page.reload();
  await page.getByText('pack → charge → reserve').waitFor();
  await button('All complete').click();
  await page.locator('.rehearsal .status', { hasText: 'completed' }).first().waitFor();
  await page.evaluate(() => localStorage.clear());
  assert.deepEqual(faults, []);
});

test('the reference of the API is that of the server: an operation is found, shown and copied, also by its address', async () => {
  await open('docs');
  await page.getByText(/\d+ operations\. Choose one/).waitFor();
  const all = await page.locator('.op').count();
  await page.getByLabel('Find an operation').fill('post cancel');
  await page.waitForFunction((count) => document.querySelectorAll('.op').length < count, all);
  await page.locator('.op', { hasText: '/instances/{id}/cancel' }).click();
  await page.getByRole('heading', { level: 2, name: 'Stop it and compensate everything that it did' }).waitFor();
  await page.getByText('/api/v1/instances/{id}/cancel').waitFor();
  assert.match(await page.locator('.curl pre').innerText(), /^curl -X POST .*\/api\/v1\/instances\/[^']+\/cancel'$/);
  assert.equal(new URL(page.url()).search, '?find=post+cancel&op=cancelInstance');
  await open('docs?op=startInstance');
  const one = page.locator('article');
  await one.getByText('instances.start', { exact: true }).waitFor();
  await one.locator('.members').getByText('workflow', { exact: true }).first().waitFor();
  await one.getByText('201', { exact: true }).waitFor();
  assert.deepEqual(faults, []);
});

test('labels stand on an instance and in the list, and find those with the same one', async () => {
  const one = instance((row) => row.labels?.tenant === 'acme');
  const same = mock.world.instances.filter((row) => row.labels?.tenant === 'acme');
  await open(`instances/${one.id}`);
  await page.getByRole('link', { name: 'tenant=acme' }).click();
  await page.getByRole('heading', { level: 1, name: 'Instances' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('q'), 'label:tenant=acme');
  await page.locator('.page-head').getByText(same.length > 50 ? '50+' : String(same.length), { exact: true }).waitFor();
  await page.locator('tbody tr').first().getByText('tenant=acme').waitFor();
  const filter = page.getByRole('combobox', { name: 'Filter' });
  await filter.fill('label:amount=7 label:is_gift=false');
  await filter.press('Enter');
  await mock.until(() => mock.control.requests.some((request) => request.includes(encodeURIComponent('labels.amount == 7 && labels.is_gift == false').replaceAll('%20', '+'))));
  await filter.fill('label:tenant');
  await page.getByRole('alert').getByText('A label is NAME=VALUE').waitFor();
  assert.deepEqual(faults, []);
});

test('the charts of the activity are read by keyboard and in a table, and lead to the instances', async () => {
  await open('workflows/order?tab=activity');
  const ends = page.getByRole('slider', { name: 'Started and ended' });
  await ends.focus();
  const last = await ends.getAttribute('aria-valuetext');
  assert.match(last, /^\d\d:\d0 – \d\d:\d0: \d+ started, \d+ completed, \d+ failed$/);
  await page.keyboard.press('Home');
  const first = await ends.getAttribute('aria-valuetext');
  assert.notEqual(first, last);
  // The span that is read out stands beside the heading, and its numbers in the legend.
  await page.locator('.span', { hasText: first.slice(0, 13) }).waitFor();
  assert.match(await page.getByRole('slider', { name: 'How long it took' }).getAttribute('aria-valuetext'), /half within .*, 95 % within /);
  await page.getByText('As a table').click();
  const started = (await page.locator('figure').first().locator('.keys strong').allInnerTexts()).map(Number);
  const cells = page.locator('details tbody tr');
  let sum = 0;
  for (const text of await cells.locator('td:nth-child(2)').allInnerTexts()) sum += Number(text);
  await page.getByRole('heading', { name: 'order', exact: true }).click();
  assert.equal(Number((await page.locator('figure').first().locator('.keys strong').first().innerText())), sum, `${started}`);
  await button('7 d').click();
  await page.waitForFunction(() => location.search.includes('window=7d'));
  await page.getByText(/^\d\d-\d\d \d\d:00$/).first().waitFor();
  await ends.focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await page.waitForURL(/instances\?q=workflow%3Aorder\+since%3A.*\+before%3A/);
  assert.deepEqual(faults, []);
});

test('a server that still counts says so, and is asked again', async () => {
  mock.control.counting = 2;
  await open('');
  await page.getByText('The server is still counting').waitFor();
  await page.getByText('The server is still counting').waitFor({ state: 'detached' });
  assert.equal(mock.control.counting, 0);
});


const heads = () => page.locator('thead th').allInnerTexts().then((all) => all.map((text) => text.trim().toLowerCase()).filter(Boolean));

test('columns are chosen, stand in the address, and are kept in this browser', async () => {
  await open('instances');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 50);
  assert.deepEqual(await heads(), ['status', 'workflow', 'key', 'labels', 'id', 'started', 'changed', 'duration']);
  await page.getByText('Columns', { exact: true }).first().click();
  await page.getByLabel('Waits for').check();
  await page.getByLabel('Changed').uncheck();
  await page.waitForURL((url) => url.searchParams.get('cols') === 'status,workflow,key,labels,waits,id,started,took');
  await page.locator('tbody').getByText('It waits for the signal').or(page.locator('tbody').getByText('waits for a person')).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Changed').waitFor({ state: 'hidden' });
  await open('instances');
  assert.deepEqual(await heads(), ['status', 'workflow', 'key', 'labels', 'waits for', 'id', 'started', 'duration'], 'kept without the address');
  await page.getByText('Columns', { exact: true }).first().click();
  await button('Default').click();
  await page.waitForURL((url) => !url.searchParams.has('cols'));
  await page.reload();
  await page.locator('tbody tr').first().waitFor();
  assert.ok((await heads()).includes('changed'));
  assert.deepEqual(faults, []);
});

test('the columns of an address are shown and not kept; a saved view has its own', async () => {
  await open('instances?q=status:dead_letter&cols=status,error,key');
  await page.locator('tbody td', { hasText: 'card_declined' }).first().waitFor();
  assert.deepEqual(await heads(), ['status', 'workflow', 'key', 'error']);
  await open('instances?q=status:dead_letter%20workflow:order&cols=status,error,key');
  await button('Save as view').click();
  await page.getByLabel('Name of the view').fill('why dead');
  await button('Save').click();
  await open('instances');
  assert.ok((await heads()).includes('duration'), 'the address of another visit is not a choice');
  await page.getByRole('button', { name: 'why dead' }).click();
  await page.waitForURL(/cols=/);
  assert.deepEqual(await heads(), ['status', 'workflow', 'key', 'error']);
});

test('a live row of a list with the column of waits says what it waits for now', async () => {
  await open('instances?q=workflow:order%20status:running&cols=status,key,waits');
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  const one = live('order', 'approve');
  one.detail.waiting_for = [{ ...one.detail.waiting_for[0], sentence: 'It waits for the moon.' }];
  mock.touch(one, 'signal_received', 'running', { payload: null });
  await page.locator('tbody tr', { hasText: one.key }).getByText('It waits for the moon.').waitFor();
});

test('the filter knows the step and the error of a failure', async () => {
  await open('instances?q=step:charge%20error:card_declined');
  const found = mock.world.instances.filter((row) => row.detail.error?.step === 'charge' && row.detail.error.code === 'card_declined');
  await page.waitForFunction((count) => document.querySelectorAll('tbody tr').length === count, Math.min(50, found.length));
  const box = page.getByRole('combobox', { name: 'Filter' });
  await box.fill('ste');
  await page.getByRole('option', { name: /^step:/ }).click();
  assert.equal(await box.inputValue(), 'step:');
});

test('how long instances are kept: what holds, a rule of its own, and back', async () => {
  await open('workflows/order?tab=retention');
  await page.getByText('The rule for all workflows holds.').waitFor();
  assert.equal(await page.getByLabel('Completed instances are kept for').inputValue(), '30d');
  await page.getByLabel('Completed instances are kept for').fill('a while');
  await button('Set the rule').click();
  await page.getByText('The member "completed" is not a duration').waitFor();
  await page.getByLabel('Completed instances are kept for').fill('7d');
  await button('Set the rule').click();
  await page.getByText('This workflow has a rule of its own.').waitFor();
  assert.deepEqual([mock.world.retention.order.completed, mock.world.retention.order.failed], ['7d', '90d']);
  await button('Remove the rule').click();
  await page.getByText('The rule for all workflows holds.').waitFor();
  assert.equal(mock.world.retention.order, undefined);
  mock.control.role = 'viewer';
  await page.reload();
  await page.getByText('The rule for all workflows holds.').waitFor();
  assert.equal(await button('Set the rule').count(), 0);
});

test('the list of workflows shows what each did', async () => {
  await open('workflows');
  await page.locator('tbody tr', { hasText: 'order' }).getByRole('img', { name: /\d+ completed, \d+ failed/ }).waitFor();
});

test('workflow files that are not registered stand under what needs attention, and lead to their reasons', async () => {
  await open('');
  await page.getByRole('link', { name: 'workflow files are not registered' }).click();
  await page.waitForURL(/settings\?tab=definitions/);
  await page.getByText('There is no key "stp"').waitFor();
});

test('how each step went: a table by node, and the slow ones are warm on the picture', async () => {
  await open('workflows/order?tab=activity');
  const table = page.locator('section', { has: page.getByRole('heading', { name: 'By step' }) }).locator('table');
  const charge = table.locator('tbody tr', { hasText: 'charge' });
  const of = mock.world.instances.filter((row) => row.workflow === 'order' && row.version === 3).slice(0, 200).flatMap((row) => row.steps.filter((step) => step.node === 'charge'));
  assert.equal(await charge.locator('td').nth(1).innerText(), String(of.length));
  assert.match(await charge.locator('td').nth(3).innerText(), /^[\d.]+ %$/);
  await page.locator('svg .node.heated', { hasText: 'charge' }).waitFor();
  assert.deepEqual(faults, []);
});

test('on the picture of the builder a node is dragged behind another one, and a slot adds one', async () => {
  await open('build/order');
  const text = page.locator('.cm-content');
  await text.waitFor();
  const yaml = () => page.evaluate(() => JSON.parse(localStorage.getItem('ebb.build.order')));
  const node = (name) => page.locator(`svg [data-node="${name}"]`).first();
  const center = async (name) => {
    const box = await node(name).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await node('charge').waitFor();
  const [from, to] = [await center('reserve'), await center('charge')];
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 5 });
  await page.locator('svg .node.aim').waitFor();
  await page.mouse.up();
  await page.waitForFunction(() => {
    const draft = JSON.parse(localStorage.getItem('ebb.build.order') ?? '""');
    return draft.indexOf('step: charge') >= 0 && draft.indexOf('step: charge') < draft.indexOf('step: reserve');
  });
  await button('Undo').click();
  await page.waitForFunction(() => localStorage.getItem('ebb.build.order') === null);
  await node('charge').hover();
  await node('charge').locator('.plus').click();
  await page.waitForFunction(() => localStorage.getItem('ebb.build.order') !== null);
  assert.match(await yaml(), /step: charge[\s\S]*- step: step\n/);
  await page.evaluate(() => localStorage.clear());
  assert.deepEqual(faults, []);
});

test('the inbox of a person with roles of its own is narrowed to them, and the address keeps that', async () => {
  mock.control.decision_roles = ['finance'];
  await open('decisions');
  const all = await page.locator('.inbox .item').count();
  await button('Mine').click();
  await page.waitForURL(/mine=1/);
  await page.waitForFunction((all) => document.querySelectorAll('.inbox .item').length < all, all);
  await page.reload();
  await page.locator('.inbox .item').first().waitFor();
  for (const text of await page.locator('.inbox .item').allInnerTexts()) assert.match(text, /finance|approve/);
  assert.equal(await page.locator('.inbox .item', { hasText: 'manager' }).count(), 0);
  await button('All roles').click();
  await page.waitForFunction((all) => document.querySelectorAll('.inbox .item').length === all, all);
});

test('two runs are compared by their timelines, their pictures and their data, too', async () => {
  await open(pagesOf(mock.world).compare);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.timeline').length === 2 && document.querySelectorAll('.timeline .span').length > 2);
  await page.locator('.timeline .tick').getByText(/^\+/).first().waitFor();
  await page.getByRole('tab', { name: 'Graph' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.graph svg').length === 2);
  await page.getByRole('tab', { name: 'Data' }).click();
  await page.getByRole('heading', { name: 'Input of the instance' }).waitFor();
  await page.waitForURL(/tab=data/);
  await page.reload();
  await page.getByRole('heading', { name: 'Input of the instance' }).waitFor();
  assert.deepEqual(faults, []);
});

test('the part of a picture that is in view is in the address, and is shown again', async () => {
  await open('workflows/order');
  const transform = () => page.evaluate(() => `${document.querySelector('.layer').style.transform} ${document.querySelector('.area svg > g').getAttribute('transform')}`);
  await page.locator('svg .node').first().waitFor();
  const before = await transform();
  await button('Zoom in').click();
  await button('Zoom in').click();
  await page.locator('.area').focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForURL(/view=/);
  const moved = await transform();
  assert.notEqual(moved, before);
  await page.reload();
  await page.locator('svg .node').first().waitFor();
  const numbers = (text) => text.match(/-?[\d.]+/g).map(Number);
  const shown = numbers(await transform());
  numbers(moved).forEach((value, i) => assert.ok(Math.abs(value - shown[i]) < 2, `${moved}: ${shown}`));
  await button('Fit').click();
  await page.waitForURL((url) => !url.searchParams.has('view'));
});

test('a large picture has a map, and a press on it shows that part', async () => {
  const steps = Array.from({ length: 90 }, (_, i) => ({ step: `step_${i}` }));
  const huge = { workflow: 'long-one', version: 1, steps };
  mock.world.definitions.push(huge);
  mock.world.byName.set('long-one', huge);
  await open('workflows/long-one');
  await page.locator('.map canvas').waitFor();
  assert.equal(await page.locator('svg [data-node="step_80"]').count(), 0, 'it is out of view');
  await page.locator('.map').scrollIntoViewIfNeeded();
  const box = await page.locator('.map').boundingBox();
  const drawn = await page.locator('.map span').boundingBox();
  await page.mouse.click(drawn.x + drawn.width / 2, box.y + box.height - 12);
  await page.locator('svg [data-node="step_80"]').waitFor();
  await open('workflows/order');
  assert.equal(await page.locator('.map').count(), 0);
});

test('the palette finds a label, and the reference names the kinds of problems', async () => {
  await open('');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('tenant=acme');
  await page.getByRole('option', { name: /label:tenant=acme/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('q') === 'label:tenant=acme');
  await open('docs');
  assert.equal(await page.getByRole('link', { name: 'precondition_failed' }).getAttribute('href'), '/problems/precondition_failed');
});

test('what no index finds is looked for by itself, page by page, until it is found or a person stops it', async () => {
  const oldest = mock.world.instances.filter((row) => row.key && row.workflow === 'order').at(-1);
  mock.control.scan = 60;
  await open(`instances?q=workflow:order%20key:${oldest.key}`);
  await page.locator('tbody tr', { hasText: oldest.key }).waitFor();
  await page.getByText('1 instance, no more').waitFor();
  assert.ok(mock.control.requests.filter((one) => one.startsWith('GET /instances?') && one.includes('before=')).length > 5);
  mock.control.hold = /^GET \/instances$/;
  const opening = page.goto(`${mock.address}instances?q=key:nothing-has-this-key`);
  await mock.until(() => mock.control.held.length > 0);
  // One page at a time: the next request waits again.
  const step = async () => {
    const [go] = mock.control.held.splice(0, 1);
    go();
    await mock.until(() => mock.control.held.length > 0);
  };
  await step();
  await step();
  await opening;
  await page.getByText('Searched back to').waitFor();
  await button('Stop here').click();
  mock.release();
  await page.getByText('None found so far.').waitFor();
  const asked = mock.control.requests.length;
  mock.control.scan = 1000;
  await button('Load more').click();
  await page.getByText('No instances match.').waitFor();
  assert.ok(mock.control.requests.length > asked);
});

test('a row that was found far back stays when something new comes to the top', async () => {
  const rows = mock.world.instances.filter((row) => row.workflow === 'order' && row.key);
  mock.control.scan = 60;
  await open('instances?q=workflow:order%20status:dead_letter');
  const dead = rows.filter((row) => row.status === 'dead_letter');
  const last = page.locator('tbody tr', { hasText: dead.at(-1).key });
  await last.waitFor();
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  const one = mock.world.add('order', Date.now(), { fail: { ship: { code: 'timeout', message: 'no answer', permanent: true } }, then: 'dead_letter' });
  mock.world.instances.unshift(mock.world.instances.pop());
  mock.publish(one);
  await page.locator('tbody tr', { hasText: one.key }).waitFor();
  assert.equal(await last.count(), 1);
});
