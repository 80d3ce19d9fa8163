// Settings and notifications: who may do what, what was done, and who is told. Each change says first what it will do. No
// test waits for a time; each waits for what it means.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { ASSETS, launch, settled, startMock, watch } from './browser.mjs';

let browser;
let mock;
let page;
let faults;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
beforeEach(() => use({}));
afterEach(close);

async function close() {
  await page.close();
  await mock.close();
}
async function use(options) {
  if (page && !page.isClosed()) await close();
  mock = await startMock({ assets: ASSETS, ...options });
  page = await browser.context.newPage();
  faults = await watch(page, new URL(mock.address).origin, [/40[0-9]|50[0-9]/]);
}
async function open(path) {
  await page.goto(mock.address + path);
  await settled(page);
}
const button = (name) => page.getByRole('button', { name, exact: true });
const sheet = () => page.getByRole('dialog');
const row = (text) => page.locator('tbody tr', { hasText: text });

test('a grant is given: what it will do and what the person has already stand there first', async () => {
  await open('settings?tab=grants');
  await button('New grant…').click();
  await sheet().getByText('Choose first who gets it.').waitFor();
  await sheet().getByLabel('Who', { exact: true }).fill('ben');
  await sheet().getByLabel('Role', { exact: true }).selectOption('approver');
  await sheet().getByLabel('Project').selectOption('people');
  await sheet().getByText('ben gets the role approver in people (onboarding, expenses).').waitFor();
  assert.deepEqual(await sheet().locator('li strong').allInnerTexts(), ['viewer', 'operator']);
  await sheet().getByLabel('Decision roles').fill('manager\n\nmanager');
  await button('Create the grant').click();
  await row('ben-approver-people').waitFor();
  const made = mock.access.grants.at(-1);
  assert.deepEqual([made.subject, made.role, made.project, made.decision_roles, made.act_as], ['user:ben', 'approver', 'people', ['manager'], false]);
  assert.deepEqual(faults, []);
});

test('a grant whose ID is taken is not written over', async () => {
  await open('settings?tab=grants');
  await button('New grant…').click();
  await sheet().getByLabel('Who', { exact: true }).fill('someone');
  await sheet().getByLabel('ID').fill('finance');
  await sheet().getByText('“finance” already exists.').waitFor();
  await button('Create the grant').click();
  assert.ok(!mock.control.requests.some((request) => request.startsWith('PUT')));
});

test('a change of a grant shows what was and what will be, and warns of losing the own access', async () => {
  await open('settings?tab=grants&find=ann');
  assert.equal(await page.locator('tbody tr').count(), 1);
  await button('Change the grant ann').click();
  await sheet().getByLabel('Role', { exact: true }).selectOption('viewer');
  assert.equal((await sheet().locator('.facts dd').innerText()).replace(/\s+/g, ' '), 'admin → viewer');
  await sheet().getByText('you may lose your own access').waitFor();
  await sheet().getByRole('button', { name: 'Remove…' }).click();
  await sheet().getByText('ann loses the role admin in everything.').waitFor();
  await sheet().getByText('Besides that it has no other grant.').waitFor();
  mock.control.fail = /^DELETE/;
  mock.control.problem = new mock.Problem(409, 'conflict', 'This is the last administrator.');
  await sheet().getByRole('button', { name: 'Remove the grant' }).click();
  await sheet().getByText('This is the last administrator.').waitFor();
  assert.equal(mock.access.grants[0].id, 'ann');
});

test('a grant of a worker is limited by handlers and queues, and is in no project', async () => {
  await open('settings?tab=grants');
  await button('Change the grant parcels').click();
  assert.equal(await sheet().getByLabel('Project').count(), 0);
  await sheet().getByLabel('Handlers').fill('ship_*');
  await button('Save the grant').click();
  await sheet().waitFor({ state: 'detached' });
  const grant = mock.access.grants.find((one) => one.id === 'parcels');
  assert.deepEqual([grant.handlers, grant.queues, grant.project], [['ship_*'], ['carriers'], '*']);
});

test('a project says which workflows come and go before it is saved; one that grants name stays', async () => {
  await open('settings?tab=projects');
  await button('Change the project billing').click();
  await sheet().getByText('1 registered workflow fits:').waitFor();
  await sheet().getByLabel('Workflows').fill('ship*\nnight*');
  await sheet().getByText('2 registered workflows fit:').waitFor();
  await sheet().getByText('It gains:').getByText('nightly-report, shipment').waitFor();
  await sheet().getByText('It loses:').getByText('order').waitFor();
  await sheet().getByText('2 grants follow').waitFor();
  await button('Save the project').click();
  await row('night*').waitFor();
  await button('Change the project billing').click();
  await sheet().getByRole('button', { name: 'Remove…' }).click();
  await sheet().getByText('2 grants name this project.').waitFor();
  assert.ok(await sheet().getByRole('button', { name: 'Remove the project' }).isDisabled());
  await sheet().getByRole('link', { name: 'Show these grants' }).click();
  await row('ben-operator').waitFor();
  assert.equal(await page.locator('tbody tr').count(), 2);
  assert.deepEqual(faults, []);
});

test('the audit: more rows come as one scrolls, few of them are in the page, and the chain is checked', async () => {
  await open('settings?tab=audit');
  await page.getByText('Chain of hashes unbroken in the 100 rows shown').waitFor();
  const all = mock.access.audit.length;
  assert.ok(all > 200, 'more than two pages');
  await page.evaluate(() => {
    const area = document.querySelector('[role=listbox]');
    new MutationObserver(() => (area.scrollTop = area.scrollHeight)).observe(area, { attributes: true, subtree: true, childList: true });
    area.scrollTop = area.scrollHeight;
  });
  await page.getByText(`Chain of hashes unbroken in the ${all} rows shown`).waitFor();
  assert.ok((await page.locator('[role=option]').count()) < 60);
  assert.deepEqual(faults, []);
});

test('the audit: a row that was changed stands out, and a filter is in the address', async () => {
  const row = mock.access.audit[7];
  row.principal = 'user:eve';
  await open('settings?tab=audit');
  await page.getByText('1 row is not as it was written.').waitFor();
  await page.getByRole('alert').getByRole('button').click();
  await page.getByRole('complementary').getByText('This row was changed').waitFor();
  await page.getByRole('complementary').getByRole('button', { name: 'user:eve' }).click();
  await page.waitForURL(/who=user%3Aeve/);
  await page.locator('[role=option]').first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 1);
  await page.getByLabel('Who', { exact: true }).fill('nobody');
  await page.getByLabel('Who', { exact: true }).press('Enter');
  await page.getByText('No row matches.').waitFor();
  await button('Clear filters').first().click();
  await page.waitForFunction(() => document.querySelectorAll('[role=option]').length > 20);
});

test('the audit by the keyboard: the arrow keys go through the rows', async () => {
  await open('settings?tab=audit');
  const list = page.getByRole('listbox', { name: 'Audit' });
  await list.focus();
  for (let i = 0; i < 3; ++i) await page.keyboard.press('ArrowDown');
  await page.waitForURL(new RegExp(`row=${mock.access.audit[2].id}`));
  await page.getByRole('complementary').getByText(mock.access.audit[2].hash).waitFor();
});

test('who may not see a part of the settings has no tab for it, and a link to it says what it needs', async () => {
  await use({ role: 'operator' });
  await open('settings');
  assert.deepEqual(await page.getByRole('tab').allInnerTexts(), ['General', 'Logins', 'Audit']);
  await open('settings?tab=grants');
  await page.getByText('It needs the permission “admin”.').waitFor();
  await open('notifications');
  await page.getByText('It needs the permission “webhooks.write”.').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Notifications' }).count(), 0);
  assert.ok(!mock.control.requests.some((request) => /grants|webhooks/.test(request)), 'nothing is asked that would be refused');
});

test('the palette leads to the parts of the settings that one may see', async () => {
  await use({ role: 'operator' });
  await open('');
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: /^Audit/ }).click();
  await page.waitForURL(/settings\?tab=audit/);
  await page.locator('[role=listbox] [role=option]').first().waitFor();
  await page.keyboard.press('Control+k');
  assert.equal(await page.getByRole('option', { name: /^Grants/ }).count(), 0);
});

test('a login is ended, and one\'s own others at once; this browser stays', async () => {
  await open('settings?tab=sessions');
  assert.match(await page.locator('tbody tr').first().innerText(), /Ann Berg.*\(this browser\)/);
  const [here, other, third] = mock.access.sessions.map((one) => one.id);
  await button(`End the login ${third} of user:joão`).click();
  await sheet().getByText('The browser must log in again: at once here').waitFor();
  assert.ok(!mock.control.requests.some((request) => request.startsWith('DELETE')), 'nothing ends before it is confirmed');
  await sheet().getByRole('button', { name: 'End', exact: true }).click();
  await row('joão').waitFor({ state: 'detached' });
  await button('End my other logins…').click();
  await sheet().getByText('End 1 login').or(sheet().getByText(`End the login ${other}`)).first().waitFor();
  await sheet().getByRole('button', { name: 'End', exact: true }).click();
  await page.getByText('1 login ended').first().waitFor();
  await button('End my other logins…').waitFor({ state: 'detached' });
  assert.deepEqual(mock.access.sessions.map((one) => one.id), [here]);
  await button(`End the login ${here} of Ann Berg`).click();
  await sheet().getByText('This browser must log in again.').waitFor();
  assert.deepEqual(faults, []);
});

test('files of the definitions folder: what is wrong comes first, at its line', async () => {
  await open('settings?tab=definitions');
  assert.deepEqual(await page.locator('tbody .lead').allInnerTexts().then((names) => names.slice(0, 2)), ['parcels/shipment.yaml', 'order.yaml']);
  await row('shipment.yaml').getByText('14:5').waitFor();
  await use({ empty: true });
  await open('settings?tab=definitions');
  await page.getByText('This server has no definitions folder.').waitFor();
});

test('the settings of the server: what is set comes first with its origin, and what is refused or waits is said', async () => {
  await open('settings?tab=config');
  await page.getByRole('status').getByText('There is no setting "titel"').waitFor();
  await page.getByText('1 setting has changed since the start. A restart applies: threads').waitFor();
  const tables = page.locator('table');
  const keys = (i) => tables.nth(i).locator('.lead').allInnerTexts();
  assert.deepEqual((await keys(0)).slice(0, 3), ['db', 'definitions', 'listen']);
  assert.ok((await keys(1)).includes('tls_cert'));
  assert.match(await row('postgresql://').innerText(), /ebb:\*\*\*@db[\s\S]*environment EBB_DB/);
  assert.match(await row('allowed_hosts').innerText(), /serve\.yaml:5:1[\s\S]*at a reload/);
  assert.match(await row('threads').innerText(), /waits for a restart/);
  await page.getByLabel('Find a setting').fill('certificate');
  await tables.nth(1).waitFor({ state: 'detached' });
  assert.deepEqual(await keys(0), ['tls_cert']);
  assert.match(page.url(), /find=certificate/);
  await use({ empty: true });
  await open('settings?tab=config');
  await page.getByText('No settings. The program that serves this page shows none.').waitFor();
});

test('a webhook is made: which events it gets, and its secret once', async () => {
  await open('notifications');
  await button('New webhook…').click();
  await sheet().getByLabel('Name').fill('ops');
  await sheet().getByLabel('To', { exact: true }).fill('https://ops.example/in');
  await sheet().getByText('It gets all events.').waitFor();
  await sheet().getByLabel('Only these:').check();
  await sheet().getByText('Choose at least one event.').waitFor();
  await sheet().getByLabel('step.failed').check();
  await sheet().getByText('It gets 1 type of event:').waitFor();
  await sheet().getByLabel('Patterns of events').fill('step.failed\ndecision.*');
  await sheet().getByText('It gets 4 types of events:').waitFor();
  assert.ok(await sheet().getByLabel('decision.made').isDisabled(), 'it comes with a pattern');
  await sheet().getByLabel('Workflows').fill('order');
  await sheet().getByText('1 registered workflow fits:').waitFor();
  await button('Create the webhook').click();
  await page.getByText('This is the secret of ops. It is shown only now.').waitFor();
  const secret = await page.locator('main .notice code').innerText();
  assert.match(secret, /^whsec_/);
  assert.deepEqual(mock.access.webhooks.find((one) => one.name === 'ops').events, ['step.failed', 'decision.*']);
  await page.reload();
  await row('ops.example').waitFor();
  assert.ok(!(await page.content()).includes(secret));
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).includes(secret));
  assert.deepEqual(faults, []);
});

test('a webhook that is suspended stands on top and says why; it can be tried, resumed and disabled', async () => {
  await open('notifications');
  await page.getByText('1 webhook is suspended.').waitFor();
  assert.equal(await page.locator('tbody .lead').first().innerText(), 'pager');
  await page.getByRole('link', { name: 'pager' }).click();
  await sheet().locator('.deliveries li').first().waitFor();
  assert.equal(await sheet().locator('.deliveries li').count(), 6);
  await button('Send a ping').click();
  await page.getByText('A ping is on its way: pager').waitFor();
  assert.ok(mock.control.requests.includes('POST /webhooks/pager/ping'));
  await button('Resume').click();
  await page.getByText('1 webhook is suspended.').waitFor({ state: 'detached' });
  const after = mock.access.webhooks.find((one) => one.name === 'pager');
  assert.deepEqual([after.enabled, after.events], [true, ['instance.dead_lettered', 'step.failed']]);
  await button('Disable').click();
  await sheet().locator('.status', { hasText: 'disabled' }).waitFor();
  assert.ok(await button('Send a ping').isDisabled());
});

test('a change of a webhook comes back to it; a new secret is shown on the page; a removal says what is lost', async () => {
  await open('notifications?at=erp');
  await button('Change…').click();
  await sheet().getByLabel('To', { exact: true }).fill('ftp://erp.example');
  await button('Save the webhook').click();
  await sheet().getByText('not an address that begins with').waitFor();
  await sheet().getByLabel('To', { exact: true }).fill('https://erp.example/new');
  await button('Save the webhook').click();
  await sheet().getByText('https://erp.example/new').waitFor();
  assert.deepEqual(mock.access.webhooks.find((one) => one.name === 'erp').workflows, ['order', 'shipment']);
  await button('New secret…').click();
  await sheet().getByText('For the time below, requests are signed with the old one, too.').waitFor();
  await button('Make a new secret').click();
  await page.locator('main').getByText('This is the secret of erp.').waitFor();
  await page.getByRole('link', { name: 'erp' }).click();
  await button('Remove…').click();
  await sheet().getByText('with the events that wait for it').waitFor();
  await button('Remove the webhook').click();
  await row('https://erp.example').waitFor({ state: 'detached' });
  assert.ok(!mock.access.webhooks.some((one) => one.name === 'erp'));
  assert.deepEqual(faults, []);
});

test('a webhook that is switched off and on keeps its filter; a delivery that has ended is sent again', async () => {
  const erp = mock.access.webhooks.find((one) => one.name === 'erp');
  Object.assign(erp, { where: 'labels.vip', payload: true });
  await open('notifications?at=erp');
  await button('Disable').click();
  await button('Enable').click();
  await button('Disable').waitFor();
  assert.equal(mock.access.webhooks.find((one) => one.name === 'erp').where, 'labels.vip');
  await open('notifications?at=pager');
  const ended = mock.access.deliveries.find((one) => one.key.startsWith('pager/') && one.status === 'dead_letter');
  await sheet().getByText('http_503: The receiver answered 503').first().waitFor();
  await button('Resume').click();
  await sheet().locator('.deliveries li', { has: page.locator('.s-dead_letter') }).first().getByRole('button', { name: 'Deliver again' }).click();
  await page.getByText('It is sent again').waitFor();
  assert.equal(ended.status, 'running');
  assert.deepEqual(faults, []);
});

test('hooks: what each event does, and each is switched off and on', async () => {
  await open('notifications');
  await row('payments').getByText('sends paid to order').waitFor();
  await row('github').getByText('starts nightly-report').waitFor();
  await page.getByRole('button', { name: 'Disable: payments' }).click();
  await row('payments').getByText('disabled').waitFor();
  const payments = mock.access.hooks.find((one) => one.name === 'payments');
  assert.deepEqual([payments.enabled, payments.signal, payments.secret], [false, 'paid', { env: 'EBB_HOOK_PAYMENTS' }]);
  assert.deepEqual(faults, []);
});

test('a developer, who may see hooks and no webhooks, finds the page and only its own part', async () => {
  await use({ role: 'developer' });
  await open('notifications');
  await page.getByRole('heading', { name: 'Incoming events' }).waitFor();
  assert.equal(await page.getByText('pager').count(), 0);
  assert.equal(await button('New webhook…').count(), 0);
  await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
});
