// What is done on the builder's picture changes the lines of one node and nothing else: comments, order and layout stay.
import './packages.mjs';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './messages.mjs';

const { outlineOf, insertAfter, remove, move, moveAfter, setField, freeName } = await load("export * from './lib/outline';");
const TEXT = `workflow: order  # sells a basket
roles: [boss]
steps:
  # first of all
  - step: reserve   # keep me
    compensate: {handler: release, max_attempts: 2}

  # then the money
  - {step: charge, queue: pay}  # in one line
  - pack
  - parallel: fulfil
    branches:
      parcel:
        - step: ship
          queue: "a: b"
      papers: [{step: print}, mail]
  - decision: approve
    roles: [boss, owner]
`;
const at = (text, name) => outlineOf(text).find((piece) => piece.name === name);
const names = (text) => outlineOf(text).map((piece) => piece.name);
/** The lines of `after` that `before` lacks, and the other way round. */
const changed = (before, after) => [after.split('\n').filter((line) => !before.split('\n').includes(line)), before.split('\n').filter((line) => !after.split('\n').includes(line))];

test('the nodes are found with their lines, and texts that are not steps are not', () => {
  assert.deepEqual(names(TEXT), ['reserve', 'charge', 'pack', 'fulfil', 'ship', 'print', 'mail', 'approve']);
  assert.deepEqual([at(TEXT, 'reserve').line, at(TEXT, 'charge').line, at(TEXT, 'ship').line], [5, 9, 14]);
  assert.equal(at(TEXT, 'ship').fields.get('queue').text, '"a: b"');
});

test('a node is added after another one, in a block and in a line', () => {
  assert.deepEqual(changed(TEXT, insertAfter(TEXT, at(TEXT, 'reserve'), 'delay', 'rest', 'x')), [['  - delay: rest', '    for: 1h'], []]);
  const flow = insertAfter(TEXT, at(TEXT, 'print'), 'step', 'sign', 'x');
  assert.deepEqual(changed(TEXT, flow), [['      papers: [{step: print}, {step: sign}, mail]'], ['      papers: [{step: print}, mail]']]);
  assert.deepEqual(names(insertAfter('workflow: a\nsteps: []\n', undefined, 'step', 'one', 'x')), ['one']);
  assert.deepEqual(names(insertAfter('', undefined, 'parallel', 'all', 'some')), ['all', 'some', 'some_2']);
  assert.equal(freeName(outlineOf(TEXT), 'ship'), 'ship_2');
});

test('a node is taken out with the comment above it', () => {
  assert.deepEqual(changed(TEXT, remove(TEXT, at(TEXT, 'charge'))), [[], ['  # then the money', '  - {step: charge, queue: pay}  # in one line']]);
  assert.match(remove(TEXT, at(TEXT, 'print')), /papers: \[mail\]/);
  assert.match(remove(TEXT, at(TEXT, 'mail')), /papers: \[\{step: print\}\]/);
  assert.match(remove(TEXT, at(TEXT, 'ship')), /parcel:\n {8}\[\]\n {6}papers/);
});

test('a node changes places with its sibling, and back again', () => {
  const moved = move(TEXT, outlineOf(TEXT), at(TEXT, 'charge'), 1);
  assert.deepEqual(names(moved).slice(0, 3), ['reserve', 'pack', 'charge']);
  assert.ok(moved.indexOf('# then the money') < moved.indexOf('charge') && moved.indexOf('pack') < moved.indexOf('# then the money'));
  assert.equal(move(moved, outlineOf(moved), at(moved, 'charge'), -1), TEXT);
  assert.equal(move(TEXT, outlineOf(TEXT), at(TEXT, 'reserve'), -1), TEXT);
  assert.match(move(TEXT, outlineOf(TEXT), at(TEXT, 'mail'), -1), /papers: \[mail, \{step: print\}\]/);
});

test('a node goes behind another one, as deep as that stands, with its comments and what is in it', () => {
  const to = (name, target, text = TEXT) => moveAfter(text, at(text, name), at(text, target));
  assert.deepEqual(names(to('reserve', 'pack')), ['charge', 'pack', 'reserve', 'fulfil', 'ship', 'print', 'mail', 'approve']);
  const deeper = to('pack', 'ship');
  assert.match(deeper, /\n {10}queue: "a: b"\n {8}- pack\n/);
  assert.equal(at(deeper, 'pack').sequence, at(deeper, 'ship').sequence);
  const out = to('ship', 'reserve');
  assert.match(out, /compensate: .*\n {2}- step: ship\n {4}queue: "a: b"\n/);
  assert.match(out, /parcel:\n {8}\[\]\n/, 'a branch without nodes is an empty one');
  assert.deepEqual(names(to('fulfil', 'approve')).slice(-5), ['approve', 'fulfil', 'ship', 'print', 'mail']);
  assert.equal(to('fulfil', 'ship'), TEXT, 'not into itself');
  assert.equal(to('print', 'pack'), TEXT, 'what stands in a line is moved in the text');
  const moved = to('charge', 'approve');
  assert.ok(moved.indexOf('# then the money') > moved.indexOf('approve'));
  assert.equal(moved.length, TEXT.length);
});

test('a value is set, added and taken out where it stands', () => {
  const line = (name, field, value) => changed(TEXT, setField(TEXT, at(TEXT, name), field, value))[0];
  assert.deepEqual(line('reserve', 'step', 'hold'), ['  - step: hold   # keep me']);
  assert.deepEqual(line('reserve', 'queue', 'stock'), ['    queue: stock']);
  assert.deepEqual(line('charge', 'queue', 'on'), ['  - {step: charge, queue: "on"}  # in one line']);
  assert.deepEqual(line('charge', 'timeout', '5s'), ['  - {step: charge, timeout: "5s", queue: pay}  # in one line']);
  assert.deepEqual(line('charge', 'queue', ''), ['  - {step: charge}  # in one line']);
  assert.deepEqual(changed(TEXT, setField(TEXT, at(TEXT, 'ship'), 'queue', '')), [[], ['          queue: "a: b"']]);
  assert.deepEqual(line('pack', 'queue', 'stock'), ['  - {step: pack, queue: stock}']);
  assert.deepEqual(line('mail', 'queue', 'post'), ['      papers: [{step: print}, {step: mail, queue: post}]']);
});

test('a text that is not valid YAML is never lost', () => {
  for (const text of ['', 'steps:\n  - {step: a, ', 'steps: [a, b', '- - -', 'steps:\n\t- step: a\n', '\u0000', 'a: "b']) {
    for (const piece of outlineOf(text)) assert.ok(piece.from <= piece.to && piece.to <= text.length);
    assert.ok(insertAfter(text, undefined, 'step', 'x', 'y').startsWith(text.trimEnd().slice(0, 3)));
  }
});
