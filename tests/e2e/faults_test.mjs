// What each page shows while something is wrong with the server or with what it asks for. No test waits for a time; each
// waits for what it means.
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
  // The browser itself logs each request that fails, here on purpose.
  faults = await watch(page, new URL(mock.address).origin, [/Failed to load resource/]);
});
afterEach(async () => {
  await page.close();
  await mock.close();
});

const trouble = () => page.locator('main').getByRole('alert');

const button = (name) => page.getByRole('button', { name, exact: true });
const goto = (path) => page.goto(mock.address + path);
/** Of a page: the request that it cannot do without, and something that stands there when it is answered. */
const PAGES = {
  overview: [/^GET \/failures\/groups$/, () => page.getByText('card_declined').first()],
  'overview, workflows': [/^GET \/workflows$/, () => page.locator('table a', { hasText: 'order' }).first(), 'overview'],
  instances: [/^GET \/instances$/, () => page.locator('tbody tr').first()],
  'instance-dead': [/^GET \/instances\/[^/]+$/, () => page.getByRole('tab', { name: 'Timeline' })],
  'instance-dead, its events': [/^GET \/instances\/[^/]+\/history$/, () => page.locator('.timeline .span').first(), 'instance-dead'],
  'instance-steps': [/^GET \/instances\/[^/]+\/steps$/, () => page.locator('tbody tr').first()],
  'instance-related': [/^GET \/instances\/[^/]+\/related$/, () => page.getByRole('heading', { name: 'Failed in the same way' })],
  'workflow-retention': [/^GET \/retention$/, () => page.getByLabel('Completed instances are kept for')],
  'notifications, hooks': [/^GET \/hooks$/, () => page.locator('tbody tr', { hasText: 'github' }), 'notifications'],
  'instance-history': [/^GET \/instances\/[^/]+\/history$/, () => page.locator('.event').first()],
  'instance-graph': [/^GET \/workflows\/.*\/layout$/, () => page.locator('svg .node').first()],
  compare: [/^GET \/instances\/[^/]+\/steps$/, () => page.getByText('The runs part at')],
  failures: [/^GET \/failures\/groups$/, () => page.locator('.line').first()],
  'failures-group': [/^GET \/failures\/[0-9a-f]{16}$/, () => page.locator('.one').first()],
  decisions: [/^GET \/decisions$/, () => page.locator('.item').first()],
  'decisions, one': [/^GET \/instances\/[^/]+$/, () => page.locator('.card .values dt').first(), 'decisions'],
  workflows: [/^GET \/workflows$/, () => page.locator('tbody tr').first()],
  workflow: [/^GET \/workflows\/order\/versions$/, () => page.locator('svg .node').first()],
  'overview, activity': [/^GET \/stats\/activity$/, () => page.locator('.plot svg').first(), 'overview'],
  'workflow-activity': [/^GET \/stats\/activity$/, () => page.locator('.plot svg').first()],
  'workflow-yaml': [/^GET \/workflows\/order\/versions\/3$/, () => page.locator('.cm-content')],
  'workflow-versions': [/^GET \/workflows\/order\/versions\/2$/, () => page.locator('.lines .text').first()],
  'build-order': [/^GET \/workflows\/order$/, () => page.locator('.cm-content')],
  workers: [/^GET \/workers$/, () => page.locator('tbody tr').first()],
  queues: [/^GET \/queues$/, () => page.locator('tbody tr').first()],
  bulk: [/^GET \/bulk$/, () => page.locator('tbody tr').first()],
  'bulk-ended': [/^GET \/bulk\/.*12$/, () => page.locator('.skips li').first()],
  'settings-grants': [/^GET \/grants$/, () => page.locator('tbody tr').first()],
  'settings-projects': [/^GET \/projects$/, () => page.locator('tbody tr').first()],
  'settings-tokens': [/^GET \/tokens$/, () => page.locator('tbody tr').first()],
  'settings-sessions': [/^GET \/sessions$/, () => page.locator('tbody tr').first()],
  'settings-audit': [/^GET \/audit$/, () => page.locator('[role=option]').first()],
  docs: [/^GET \/openapi\.json$/, () => page.locator('.op').first()],
  'settings-config': [/^GET \/admin\/config$/, () => page.locator('tbody tr').first()],
  'settings-definitions': [/^GET \/admin\/definitions$/, () => page.locator('tbody tr').first()],
  notifications: [/^GET \/webhooks$/, () => page.locator('tbody tr').first()],
};
const addressOf = (name) => pagesOf(mock.world)[PAGES[name][2] ?? name];

for (const [name, [request, whole]] of Object.entries(PAGES)) {
  test(`an error is said where it is, and can be tried again: ${name}`, async () => {
    mock.control.fail = request;
    await goto(addressOf(name));
    await trouble().getByText('That did not work.').first().waitFor();
    await trouble().getByText('Something went wrong in the server.').first().waitFor();
    await trouble().getByText('Request 019e2b6c').first().waitFor();
    mock.control.fail = null;
    // A live page may have tried again by itself just now, so nothing waits for the button.
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('main [role=alert] button')) if (one.textContent === 'Try again') one.click();
    });
    await whole().waitFor();
    await trouble().waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });

  test(`what works in a moment is tried again by itself at the time that the server names: ${name}`, async () => {
    mock.control.fail = request;
    mock.control.problem = new mock.Problem(503, 'store_unavailable', 'The database does not answer.', {}, { 'Retry-After': '1' });
    await goto(addressOf(name));
    await trouble().getByText('The server cannot answer now.').first().waitFor();
    mock.control.fail = null;
    await whole().waitFor();
    await trouble().waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });

  test(`an answer that breaks off in its middle is a server that does not answer, and comes by itself later: ${name}`, async () => {
    mock.control.cut = request;
    await goto(addressOf(name));
    await trouble().getByText('The server does not answer.').first().waitFor();
    mock.control.cut = null;
    await whole().waitFor();
    await trouble().waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });

  test(`what is not allowed says so: ${name}`, async () => {
    mock.control.fail = request;
    mock.control.problem = new mock.Problem(403, 'not_allowed', 'The role viewer does not have this permission.');
    await goto(addressOf(name));
    await trouble().getByText('You may not see this.').first().waitFor();
    assert.equal(await trouble().getByRole('button', { name: 'Try again' }).count(), 0);
    assert.deepEqual(faults, []);
  });

  test(`what is still loading has its shape: ${name}`, async () => {
    mock.control.hold = request;
    await goto(addressOf(name));
    // These parts of a page have no shape of their own; that of the whole page may be gone too soon to be seen.
    if (!['instance-dead, its events', 'instance-history', 'workflow-versions'].includes(name)) await page.locator('main').getByRole('status', { name: 'Loading' }).first().waitFor();
    await mock.until(() => mock.control.held.length > 0);
    mock.release();
    await whole().waitFor();
    await page.locator('main .skeleton').first().waitFor({ state: 'detached' });
    assert.deepEqual(faults, []);
  });
}

test('what keeps a whole page from its data is said once, in the words of a person, and the page is not called live', async () => {
  mock.control.fail = /^GET \/(failures\/groups|unserved|workflows|stats\/activity)$/;
  mock.control.problem = new mock.Problem(503, 'store_unavailable', 'The database does not answer.', { hint: 'Send the same request again after the time in Retry-After.' });
  await goto('');
  await trouble().getByText('The database does not answer.').first().waitFor();
  await page.locator('main p', { hasText: 'The server cannot answer now.' }).nth(1).waitFor();
  await page.waitForFunction(() => document.querySelectorAll('main [role=alert]').length === 1);
  assert.equal(await page.getByText('Retry-After').count(), 0);
  await page.locator('.top').getByText('not live', { exact: true }).waitFor();
  mock.control.fail = null;
  // Once for all of them.
  await trouble().getByRole('button', { name: 'Try again' }).click();
  for (const row of [page.getByText('card_declined'), page.locator('table a', { hasText: 'order' }), page.locator('.plot svg')]) await row.first().waitFor();
  await trouble().waitFor({ state: 'detached' });
  await page.locator('.top').getByText('live', { exact: true }).waitFor();
  // What stays on the page says since when it stands there, as every other time is written.
  mock.control.fail = /^GET \/workflows$/;
  mock.touch(mock.world.instances.find((row) => row.status === 'running'), 'paused', 'paused');
  await trouble().getByText(/What is shown below is from \d\d:\d\d:\d\d\.$/).waitFor();
  await page.locator('table a', { hasText: 'order' }).first().waitFor();
  assert.deepEqual(faults, []);
});

test('what does not exist says so and leads to the list', async () => {
  for (const [path, list] of [['instances/019e0000-0000-7000-8000-000000000000', 'Instances'], ['workflows/nothing', 'Workflows'], ['build/nothing', 'Workflows']]) {
    await goto(path);
    await trouble().getByText('Not found.').first().waitFor();
    await trouble().getByRole('link', { name: list }).first().waitFor();
  }
  const here = mock.world.instances[0].id;
  await goto(`instances/${here}/compare/019e0000-0000-7000-8000-000000000000`);
  await trouble().getByText('Not found.').waitFor();
  await goto('decisions?at=nothing');
  await page.getByText('The decision of this link is not open any more.').waitFor();
  assert.deepEqual(faults, []);
});

test('a permission that is lost in the middle: the page says so, keeps what it has, and offers the act no more', async () => {
  const one = mock.world.instances.find((row) => row.status === 'running' && row.detail.waiting_for[0]?.kind === 'decision' && row.workflow === 'order');
  await goto(`instances/${one.id}`);
  await settled(page);
  await button('Cancel…').click();
  await page.getByRole('dialog').getByLabel('Reason').fill('ordered twice');
  mock.control.role = 'viewer';
  mock.control.fail = /^POST/;
  mock.control.problem = new mock.Problem(403, 'not_allowed', 'The role viewer may not cancel.');
  await page.getByRole('dialog').getByRole('button', { name: /^Cancel and undo/ }).click();
  await page.getByRole('dialog').getByText('The role viewer may not cancel.').waitFor();
  assert.equal(await page.getByRole('dialog').getByLabel('Reason').inputValue(), 'ordered twice');
  await page.keyboard.press('Escape');
  await button('Cancel…').waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: one.key }).waitFor();
  assert.equal(one.status, 'running');
  assert.deepEqual(faults, []);
});

test('a server that shuts down says so before it is gone; the page stays, and is as before when one is back', async () => {
  const one = mock.world.instances.find((row) => row.status === 'running' && row.workflow === 'order');
  await goto(`instances/${one.id}`);
  await settled(page);
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  await button('Cancel…').click();
  const act = page.getByRole('dialog').getByRole('button', { name: /^Cancel / });
  assert.ok(await act.isEnabled());
  mock.control.fail = /^GET \/events$/;
  mock.control.problem = new mock.Problem(503, 'draining', 'The server shuts down.');
  mock.drain();
  await page.getByText('The server shuts down.').waitFor();
  assert.ok(await act.isDisabled());
  mock.control.away = true;
  await page.getByRole('status').filter({ hasText: 'The server does not answer.' }).waitFor();
  mock.control.away = false;
  mock.control.fail = null;
  await page.locator('.banner.warn').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.querySelector('.top')?.innerText.includes('live'));
  assert.ok(await act.isEnabled());
  assert.deepEqual(faults, []);
});

test('what a person has typed in the builder outlives the server, and can be registered when it is back', async () => {
  await goto('build');
  const text = page.locator('.cm-content');
  await text.waitFor();
  mock.control.away = true;
  await text.fill('workflow: hello\nversion: 1\nsteps:\n  - step: greet\n  - step: wave\n');
  await trouble().getByText('The server does not answer.').waitFor();
  await page.getByText('Draft, kept in this browser').waitFor();
  mock.control.away = false;
  await page.reload();
  await text.getByText('- step: wave').waitFor();
  await page.getByText('Your draft from last time').waitFor();
  await page.getByText('No problems.').waitFor();
  assert.equal(await trouble().count(), 0);
  assert.deepEqual(faults, []);
});

test('what a person has typed in a start form outlives the server and the page', async () => {
  await goto('workflows/order');
  await settled(page);
  await button('Start…').click();
  await page.getByLabel('Order number').fill('SO-77');
  mock.control.away = true;
  for (const stream of mock.streams) stream.response.destroy();
  await page.getByLabel('Amount').fill('12.5');
  mock.control.away = false;
  await page.reload();
  await settled(page);
  await button('Start…').click();
  assert.equal(await page.getByLabel('Order number').inputValue(), 'SO-77');
  assert.equal(await page.getByLabel('Amount').inputValue(), '12.5');
  await button('Start').click();
  await page.waitForURL(/instances\/[0-9a-f-]{36}/);
  await goto('workflows/order');
  await settled(page);
  await button('Start…').click();
  assert.equal(await page.getByLabel('Order number').inputValue(), '', 'what was sent is not a draft any more');
  assert.deepEqual(faults, []);
});
