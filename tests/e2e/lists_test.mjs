// What lists and sheets are made of: columns of choice, terms of the filter, an act as a command, links to other systems, and
// when a step could have begun.
import './packages.mjs';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './messages.mjs';

const lib = await load("export * from './lib/columns'; export * from './lib/filter'; export * from './lib/command'; export * from './lib/links'; export * from './lib/payload'; export * from './lib/timeline'; export * from './lib/importance';");
const { columnsFromText, columnsOf, columnsText, COLUMNS, DEFAULT_COLUMNS, withColumn, needsOutline } = lib;

test('columns: unknown ones are left out, their order is that of the table, and the one that leads to the instance stays', () => {
  assert.deepEqual(columnsFromText('took,nonsense,status'), ['status', 'workflow', 'took']);
  assert.equal(columnsFromText('nonsense'), undefined);
  assert.equal(columnsFromText(''), undefined);
  assert.equal(columnsOf([7, null]), undefined);
  assert.deepEqual(withColumn(['status', 'workflow'], 'status'), ['workflow']);
  assert.deepEqual(withColumn(['workflow'], 'error'), ['workflow', 'error']);
  assert.deepEqual(withColumn(['workflow'], 'workflow'), ['workflow']);
  assert.equal(columnsText(DEFAULT_COLUMNS), '', 'the default is not in the address');
  for (const column of COLUMNS) assert.deepEqual(columnsFromText(columnsText(withColumn(['workflow'], column))) ?? [...DEFAULT_COLUMNS], withColumn(['workflow'], column));
  assert.ok(!needsOutline(DEFAULT_COLUMNS) && needsOutline(['workflow', 'waits']) && needsOutline(['error']));
});

test('the filter: a step and an error of a failure become conditions of the server', () => {
  const { filterQuery, filterWhere, parseFilter } = lib;
  const of = (text) => filterQuery(parseFilter(text), 0);
  assert.deepEqual(of('step:charge'), { where: 'error.step == "charge"' });
  assert.deepEqual(of('step:charge error:http_503,timeout label:tenant=acme'), { where: 'error.step == "charge" && error.code in ["http_503", "timeout"] && labels.tenant == "acme"' });
  assert.equal(filterWhere(parseFilter('status:dead_letter error:"no route"'), 0), 'status == "dead_letter" && error.code == "no route"');
  assert.equal(parseFilter('step:')[0].problem, 'value');
});

test('an act as a command: quoted for a shell, whatever a person has typed', () => {
  const { commandOf, shellWord } = lib;
  const instance = { id: '019e', workflow: 'order' };
  assert.equal(shellWord("it's"), "'it'\\''s'");
  assert.equal(shellWord('$(rm -rf /)'), "'$(rm -rf /)'");
  assert.equal(shellWord(''), "''");
  assert.equal(commandOf('cancel', instance, { reason: 'ordered twice' }), "ebb cancel 019e --reason 'ordered twice'");
  assert.equal(commandOf('confirm', instance, { verdict: 'confirm', node: 'approve', comment: 'fine' }), 'ebb decide 019e confirm --node approve --comment fine');
  assert.equal(commandOf('signal', instance, { name: 'paid', payload: { by: 'card' } }), `ebb signal 019e paid --payload '{"by":"card"}'`);
  assert.equal(commandOf('signal', instance, { name: 'paid', payload: null }), 'ebb signal 019e paid');
  assert.equal(commandOf('requeue', instance, { input: null, skip_compensation: true }), 'ebb requeue 019e --input null --skip-compensation');
  assert.equal(commandOf('write', instance, { values: { n: 1 } }), `ebb write 019e --values '{"n":1}'`);
  assert.equal(commandOf('recover', instance, { to: 12, then: 'stop' }), 'ebb recover 019e --to 12 --then stop');
  assert.equal(commandOf('rerun', instance, { key: lib.rerunKey(instance) }), 'ebb rerun 019e --key rerun:019e');
  assert.equal(commandOf('export', instance, {}), 'ebb export 019e --output order-019e.json');
});

test('a payload that is not shown as it is stored is known as such, at any depth', () => {
  const { isStandIn, isWhole } = lib;
  for (const whole of [undefined, null, 0, 'text', [], { a: [{ b: '•' }] }, { $hidden: false }]) assert.deepEqual([isWhole(whole), isStandIn(whole)], [true, false], JSON.stringify(whole));
  for (const part of ['•••', { a: [{ card: '•••' }] }, [{ $hidden: true, bytes: 7 }]]) assert.deepEqual([isWhole(part), isStandIn(part)], [false, false], JSON.stringify(part));
  for (const none of [{ $hidden: true, bytes: 7 }, { $truncated: true, bytes: 70_000, href: '/x' }]) assert.deepEqual([isWhole(none), isStandIn(none)], [false, true], JSON.stringify(none));
});

test('links to other systems: values are percent-encoded, unknown places stay, and only http and https are links', () => {
  const instance = { id: '019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d', workflow: 'a b', version: 3, key: 'x&y=<z>', created_at: '2030-01-15T00:00:00Z' };
  const of = (url) => lib.linksOf({ ui: { links: [{ name: 'L', url }] } }, instance);
  assert.deepEqual(of('https://t.example/${instance.trace_id}'), [{ name: 'L', url: 'https://t.example/019e2b6c5a107c3e9f003d5f8a1b2c4d' }]);
  assert.equal(of('https://l.example/?q=${instance.workflow}&k=${instance.key}&v=${instance.version}')[0].url, 'https://l.example/?q=a%20b&k=x%26y%3D%3Cz%3E&v=3');
  assert.equal(of('https://l.example/${instance.nothing}${instance.constructor}')[0].url, 'https://l.example/${instance.nothing}${instance.constructor}');
  assert.deepEqual(of('javascript:alert(1)'), []);
  assert.deepEqual(lib.linksOf(undefined, instance), []);
});

const at = (ms) => new Date(Date.UTC(2030, 0, 15) + ms).toISOString();
const event = (seq, type, ms, more = {}) => ({ seq, at: at(ms), type, node: null, path: null, visit: 0, attempt: 0, ref: 0, payload: null, worker: null, started_at: null, ...more });

test('the time that a step waits for a worker stands apart from the time that it runs', () => {
  const events = [
    event(1, 'started', 0),
    event(2, 'step_retried', 600, { node: 'charge', visit: 1, attempt: 1, ref: 1, started_at: at(500), payload: { code: 'http_503' } }),
    event(3, 'step_completed', 2000, { node: 'charge', visit: 1, attempt: 2, ref: 1, started_at: at(1600) }),
    event(4, 'step_completed', 2100, { node: 'ship', visit: 2, attempt: 1, ref: 3, started_at: at(2000) }),
  ];
  const line = lib.timelineOf(events, [], 0, true);
  const [charge, ship] = line.lanes;
  assert.deepEqual(charge.spans.map((span) => [span.kind, span.to - span.from]), [['queue', 500], ['failed', 100], ['retry', 1000], ['attempt', 400]]);
  assert.deepEqual(ship.spans.map((span) => span.kind), ['attempt'], 'what begins at once has not waited');
  assert.deepEqual([lib.tookOf(charge), lib.tookOf(ship)], [1500, 100]);
});

test('steps of low importance are folded, but not those that failed, were retried or still run', () => {
  const low = { metadata: { importance: 'low' } };
  const definition = { steps: ['a', { step: 'mail', ...low }, { parallel: 'all', branches: { one: [{ step: 'log', ...low }, { step: 'pay', metadata: { importance: 'high', step: 'x' } }] } }, { condition: 'big', when: 'x', then: [{ delay: 'rest', ...low }] }] };
  const quiet = lib.quietNodes(definition);
  assert.deepEqual([...quiet], ['mail', 'log', 'rest']);
  const step = (node, status, attempts = 1) => ({ node, status, attempts });
  assert.deepEqual([...lib.foldedNodes(quiet, [step('a', 'completed'), step('mail', 'completed'), step('log', 'failed'), step('rest', 'waiting')])], ['mail']);
  assert.deepEqual([...lib.foldedNodes(quiet, [step('mail', 'completed', 2), step('log', 'completed'), step('log', 'running')])], []);
  assert.equal(lib.quietNodes(undefined).size, 0);
});
