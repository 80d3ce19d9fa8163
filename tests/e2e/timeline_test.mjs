// The times above a timeline: round, apart from each other, and never inside of a gap.
import './packages.mjs';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './messages.mjs';

const { axisTimes, scaleOf, ticksOf } = await load("export * from './lib/timeline'; export * from './lib/format';");
const DAY = 86_400_000;
const line = (from, to) => ({ lanes: [], back: [], from, to, total: 0 });
const ticks = (timeline, gaps, apart) => ticksOf(timeline, gaps, scaleOf(timeline, gaps), apart);

test('after the begin, the times are round', () => {
  assert.deepEqual(ticks(line(1234, 61_234), [], 0.15).map((one) => one.time), [1234, 20_000, 30_000, 40_000, 50_000]);
  assert.deepEqual(ticks(line(1003, 1303), [], 0.2).map((one) => one.time), [1003, 1100, 1200]);
});

test('two times are at least as far apart as their words are wide, and the last one has its room', () => {
  for (const span of [3, 777, 35_000, 4_000_000, 3 * DAY, 400 * DAY]) {
    for (const apart of [0.1, 0.15, 0.33, 0.9]) {
      const found = ticks(line(1_700_000_000_123, 1_700_000_000_123 + span), [], apart);
      found.forEach(({ at }, i) => assert.ok(i === 0 || at >= found[i - 1].at + apart - 1e-9, `${span} ${apart}: ${JSON.stringify(found)}`));
      assert.ok(found.length === 1 || found.at(-1).at <= 1 - apart);
    }
  }
});

test('a gap of days has no times in it, and costs no more than the work beside it', () => {
  const gap = { from: 10_000, to: 10_000 + 3000 * DAY };
  const timeline = line(0, gap.to + 10_000);
  const found = ticks(timeline, [gap], 0.1);
  assert.ok(found.length >= 4, JSON.stringify(found));
  for (const { time } of found) assert.ok(time <= gap.from || time >= gap.to, String(time));
  assert.ok(found.some(({ time }) => time > gap.to));
});

test('the first time of a day has its date, if the axis is longer than a day', () => {
  const at = (text) => Date.parse(`2026-${text}Z`);
  const times = ['11-22T07:18:11.400', '11-22T07:18:20', '11-23T08:19:11.400', '11-23T08:19:20'].map(at);
  assert.deepEqual(axisTimes(times, times[0], times[3], 'utc', true), ['11-22 07:18:11.400', '07:18:20.000', '11-23 08:19:11.400', '08:19:20.000']);
  assert.deepEqual(axisTimes(times.slice(0, 2), times[0], times[1], 'utc'), ['07:18:11', '07:18:20']);
  assert.deepEqual(axisTimes(times.slice(0, 1), times[0], times[3], 'utc'), ['11-22 07:18:11'], 'its end is on another day');
});
