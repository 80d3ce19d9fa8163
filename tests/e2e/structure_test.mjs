// What two definitions differ in by node, and what a rehearsal's events say about each step.
import './packages.mjs';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './messages.mjs';

const { changesOf, stepsOf, undoneOf, requestOf, emptyPlan } = await load("export * from './lib/structure'; export * from './lib/rehearsal';");
const changes = (before, after) => Object.fromEntries(changesOf({ steps: before }, { steps: after }));

test('a change deep in a branch marks its node and none of those around it', () => {
  const tree = (queue) => [{ parallel: 'both', branches: { a: [{ condition: 'big', when: 'input.n > 1', then: [{ step: 'ship', queue }], else: [] }], b: ['pack'] } }];
  assert.deepEqual(changes(tree('one'), tree('two')), { ship: 'changed' });
});

test('nodes that are new, gone or moved: only the first two are changes', () => {
  assert.deepEqual(changes(['a', 'b', 'c'], ['c', 'a', { step: 'd' }]), { d: 'added', b: 'removed' });
});

test('the condition of a case and the name of a branch belong to their node', () => {
  const choice = (when) => [{ switch: 'by_size', cases: [{ when, do: ['a'] }], default: ['b'] }];
  assert.deepEqual(changes(choice('input.n > 1'), choice('input.n > 2')), { by_size: 'changed' });
  const fork = (name) => [{ parallel: 'both', branches: { [name]: ['a'] } }];
  assert.deepEqual(changes(fork('x'), fork('y')), { both: 'changed' });
});

test('the same definition in another order of its keys has no changes', () => {
  assert.deepEqual(changes([{ step: 'a', queue: 'q', compensate: 'u' }], [{ compensate: 'u', step: 'a', queue: 'q' }]), {});
  assert.deepEqual(changes(null, undefined), {});
});

const event = (seq, type, node, more = {}) => ({ seq, type, node, path: null, visit: seq, attempt: 1, ref: 0, payload: null, worker: null, started_at: null, at: `2030-01-15T00:00:0${seq}Z`, ...more });

test('a compensation says something about the visit that it undoes, and not about another one', () => {
  const events = [event(1, 'step_completed', 'a'), event(2, 'step_completed', 'a'), event(3, 'step_failed', 'b'), event(4, 'step_compensated', 'a', { ref: 2, visit: 9 })];
  assert.deepEqual(stepsOf(events).map((step) => [step.node, step.visit, step.status]), [['a', 1, 'completed'], ['a', 2, 'compensated'], ['b', 3, 'failed']]);
  assert.deepEqual(undoneOf(events), ['a']);
});

test("a step that failed stays failed after its own effect was undone", () => {
  const events = [event(1, "step_failed", "b"), event(2, "step_compensated", "b", { ref: 1 })];
  assert.deepEqual(stepsOf(events).map((step) => step.status), ["failed"]);
});

test('a rehearsal asks only for what differs from completing, and only of nodes that are there', () => {
  const plan = { ...emptyPlan(), outcomes: { a: 'fail', gone: 'never', b: 'complete' }, undo: { a: 'fail_for_good' }, cancelAfter: 'gone' };
  assert.deepEqual(requestOf('workflow: x', plan, new Set(['a', 'b']), { n: 1 }), { definition: 'workflow: x', input: { n: 1 }, outcomes: { a: { outcome: 'fail' } }, compensations: { a: { outcome: 'fail_for_good' } } });
});
