// Patterns of names, the hashes of the audit, and lists that the server's sources have, too.
import './packages.mjs';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { auditHash, makeAccess } from '../../ui/mock/access.mjs';
import { random } from '../../ui/mock/random.mjs';
import { load } from './messages.mjs';

const { fits, linesOf, hashOf, faultsOf, EVENT_TYPES, SAYS_WHO, authorOf } = await load("export * from './lib/pattern'; export * from './lib/audit'; export * from './lib/webhooks'; export * from './lib/authors';");
const source = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('a pattern fits the whole name: * is any text, ? any character', () => {
  for (const [pattern, name, is] of [
    ['order', 'order', true], ['order', 'orders', false], ['order', 'Order', false], ['*', '', true], ['?', '', false], ['b?ll*', 'billing.eu', true], ['*.eu', 'billing.eu', true], ['*.eu', 'billing.eu.old', false],
    ['a*b*c', 'a-b-b-c', true], ['a*b*c', 'acb', false], ['?', 'ж', true], ['?', '🙂', true], ['a.c', 'abc', false], ['', '', true], ['', 'a', false], ['**a', 'ba', true],
  ]) assert.equal(fits(pattern, name), is, `${pattern} and ${name}`);
  // With a matcher that goes back and forth, this would not end.
  assert.equal(fits('*a'.repeat(60), 'a'.repeat(59) + 'b'), false);
});

test('lines are trimmed, and neither empty nor twice', () => assert.deepEqual(linesOf(' a \n\nb\r\na'), ['a', 'b']));

const now = Date.UTC(2030, 0, 15);
const rowsOf = () => makeAccess({ now, r: random(3), instances: [{ id: 'one', workflow: 'order', status: 'failed' }, { id: 'two', workflow: 'order', status: 'failed' }] }).audit;

test('an audit as it was written has no fault, over the ends of chains', async () => {
  const rows = rowsOf();
  assert.equal(new Set(rows.map((row) => row.chain)).size, 2);
  assert.equal(await hashOf(rows[0]), auditHash(rows[0]));
  assert.deepEqual([...(await faultsOf(rows, false))], []);
});

test('a row that was changed, removed or inserted is a fault, and says which', async () => {
  const kinds = async (change, is_filtered = false) => {
    const rows = rowsOf();
    change(rows);
    return Object.fromEntries([...(await faultsOf(rows, is_filtered))].map(([id, fault]) => [rows.findIndex((row) => row.id === id), fault.kind]));
  };
  assert.deepEqual(await kinds((rows) => (rows[20].principal = 'user:eve')), { 20: 'changed' });
  assert.deepEqual(await kinds((rows) => (rows[20].detail = { status: 200 })), { 20: 'changed' });
  assert.deepEqual(await kinds((rows) => rows.splice(20, 3)), { 19: 'removed' });
  // Written again with a right hash of its own: the row behind it names the one that was there.
  assert.deepEqual(await kinds((rows) => { rows[20].principal = 'user:eve'; rows[20].hash = auditHash(rows[20]); }), { 19: 'link' });
  const again = (row) => ({ ...row, hash: auditHash(row) });
  assert.deepEqual(await kinds((rows) => rows.splice(20, 0, again({ ...rows[20], id: 'again' }))), { 20: 'doubled', 19: 'link' });
  // With a filter, what is between two rows is not known.
  assert.deepEqual(await kinds((rows) => rows.splice(20, 3), true), {});
  assert.deepEqual(await kinds((rows) => (rows[20].target = '/api/v1/tokens/ci'), true), { 20: 'changed' });
});

test("the types of events that a webhook can get are the server's", () => {
  const [, list] = /kNoticeTypes = \{([^}]*)\}/.exec(source('src/core/kernel/notices.h'));
  assert.deepEqual([...EVENT_TYPES].sort(), [...list.matchAll(/"([\w.]+)"/g)].map(([, type]) => type).sort());
});

test("the events that say who caused them are the server's; what an application calls `by` is not a name", () => {
  assert.deepEqual([...SAYS_WHO].sort(), [...source('src/core/kernel/event_author.h').matchAll(/type == "(\w+)"/g)].map(([, type]) => type).sort());
  assert.equal(authorOf({ type: 'paused', payload: { by: 'user:ann' }, worker: 'pay-1' }), 'user:ann');
  assert.equal(authorOf({ type: 'step_completed', payload: { by: 'bus' }, worker: 'pay-1' }), 'pay-1');
  assert.equal(authorOf({ type: 'paused', payload: null, worker: null, by: 'user:ben' }), 'user:ben');
  assert.equal(authorOf({ type: 'paused', payload: { by: 7 }, worker: null }), '');
});
