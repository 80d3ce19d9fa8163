// Turns a history into spans on lanes: the wait for a worker, attempts, waits for a retry, waits for people, signals and timers, and the way
// back as lanes of its own. Long stretches in which nothing happens fold to a gap. Pure, linear in the events.
import type { HistoryEvent, Step } from '../api/client';

export type SpanKind = 'queue' | 'attempt' | 'failed' | 'retry' | 'wait' | 'running' | 'undo' | 'undo_failed';

export interface Span {
  kind: SpanKind;
  from: number;
  to: number;
  attempt: number;
  seq: number;
  worker: string | null;
  code: string;
}

export interface Lane {
  node: string;
  path: string | null;
  visit: number;
  status: string;
  spans: Span[];
}

export interface Timeline {
  lanes: Lane[];
  back: Lane[];
  from: number;
  to: number;
  /** Of how many lanes these are the last ones. */
  total: number;
}

/** A shorter wait for a worker is none. */
const QUEUE_MIN_MS = 1;

const ENDS = new Set(['decision_completed', 'decision_made', 'timer_fired', 'signal_completed', 'branch_failed']);
const BEGINS = new Set(['decision_awaited', 'timer_started', 'signal_awaited']);

export function timelineOf(events: HistoryEvent[], steps: Step[], now: number, is_over: boolean, lanes_max = 400): Timeline {
  const lanes = new Map<string, Lane>();
  const back = new Map<string, Lane>();
  const bySeq = new Map<number, HistoryEvent>();
  const statuses = new Map(steps.map((step) => [`${step.node}#${step.visit}`, step]));
  const at = (text: string) => Date.parse(text);
  let from = Infinity;
  let to = -Infinity;
  const laneOf = (map: Map<string, Lane>, node: string, visit: number, path: string | null) => {
    const name = `${node}#${visit}`;
    const found = map.get(name) ?? { node, path, visit, status: statuses.get(name)?.status ?? '', spans: [] };
    map.set(name, found);
    return found;
  };
  const push = (lane: Lane, kind: SpanKind, begin: number, end: number, event: HistoryEvent) => {
    const code = (event.payload as { code?: string } | null)?.code ?? '';
    lane.spans.push({ kind, from: begin, to: Math.max(begin, end), attempt: event.attempt, seq: event.seq, worker: event.worker, code });
  };
  for (const event of events) {
    bySeq.set(event.seq, event);
    const time = at(event.at);
    from = Math.min(from, time);
    to = Math.max(to, time);
    if (!event.node) continue;
    const begin = event.started_at ? at(event.started_at) : time;
    const is_back = event.type.startsWith('compensation_') || event.type === 'step_compensated';
    if (is_back) {
      const lane = laneOf(back, event.node, event.visit, event.path);
      lane.status = event.type === 'step_compensated' ? 'compensated' : event.type === 'compensation_failed' ? 'compensation_failed' : lane.status || 'compensating';
      fillRetry(lane, begin, event);
      push(lane, event.type === 'step_compensated' ? 'undo' : event.type === 'compensation_skipped' ? 'wait' : 'undo_failed', begin, time, event);
    } else if (event.started_at) {
      const lane = laneOf(lanes, event.node, event.visit, event.path);
      // The event with its input is the time from which on a worker could have begun.
      const due = bySeq.get(event.ref);
      if (!lane.spans.length && event.attempt === 1 && due && begin - at(due.at) >= QUEUE_MIN_MS) push(lane, 'queue', at(due.at), begin, event);
      fillRetry(lane, begin, event);
      push(lane, event.type === 'step_completed' ? 'attempt' : 'failed', begin, time, event);
    } else if (BEGINS.has(event.type)) {
      push(laneOf(lanes, event.node, event.visit, event.path), 'wait', time, is_over ? time : now, event);
    } else if (ENDS.has(event.type)) {
      const open = lanes.get(`${event.node}#${event.visit}`)?.spans.find((span) => span.kind === 'wait');
      if (open) open.to = time;
    }
  }
  for (const step of steps) {
    if (is_over || !step.started_at || (step.status !== 'running' && step.status !== 'retrying')) continue;
    const lane = laneOf(lanes, step.node, step.visit, step.path);
    const last = lane.spans[lane.spans.length - 1];
    const begin = last ? last.to : at(step.started_at);
    const kind: SpanKind = step.status === 'running' ? 'running' : 'retry';
    lane.spans.push({ kind, from: begin, to: Math.max(begin, now), attempt: step.attempts, seq: 0, worker: step.worker, code: '' });
  }
  if (!is_over) to = Math.max(to, now);
  if (!Number.isFinite(from)) from = to = now;
  const all = [...lanes.values()].filter((lane) => lane.spans.length);
  all.sort((a, b) => a.spans[0]!.from - b.spans[0]!.from || a.visit - b.visit);
  const ways = [...back.values()].sort((a, b) => a.spans[0]!.from - b.spans[0]!.from);
  return { lanes: all.slice(-lanes_max), back: ways.slice(-lanes_max), from, to, total: all.length + ways.length };
}

/** Between two attempts the step waited for its retry. */
function fillRetry(lane: Lane, begin: number, event: HistoryEvent) {
  const last = lane.spans[lane.spans.length - 1];
  if (last && begin > last.to) lane.spans.push({ kind: 'retry', from: last.to, to: begin, attempt: event.attempt, seq: event.seq, worker: null, code: '' });
}

/** How long the work of a lane took; what waited for a worker before it did not. */
export function tookOf(lane: Lane): number {
  const first = lane.spans.find((span) => span.kind !== 'queue') ?? lane.spans[0]!;
  return lane.spans[lane.spans.length - 1]!.to - first.from;
}

export interface Gap {
  from: number;
  to: number;
}

/** Stretches without any work that are longer than a fifth of all work together, and longer than 2 s: they fold. */
export function gapsOf(timeline: Timeline): Gap[] {
  const busy = [...timeline.lanes, ...timeline.back]
    .flatMap((lane) => lane.spans)
    .filter((span) => span.kind !== 'wait' && span.kind !== 'retry' && span.kind !== 'queue')
    .map((span) => [span.from, span.to] as [number, number]);
  busy.push([timeline.from, timeline.from], [timeline.to, timeline.to]);
  busy.sort((a, b) => a[0] - b[0]);
  let work = 0;
  let end = timeline.from;
  const idle: Gap[] = [];
  for (const [begin, stop] of busy) {
    if (begin > end) idle.push({ from: end, to: begin });
    work += Math.max(0, stop - Math.max(begin, end));
    end = Math.max(end, stop);
  }
  const least = Math.max(2000, work / 5);
  return idle.filter((gap) => gap.to - gap.from > least);
}

/** Where a time lies between 0 and 1 when every gap takes the width of `share` of the whole. */
export function scaleOf(timeline: Timeline, gaps: Gap[], share = 0.05): (time: number) => number {
  const folded = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const work = Math.max(1, timeline.to - timeline.from - folded);
  const part = gaps.length ? Math.min(share, 0.5 / gaps.length) : 0;
  const rest = 1 - part * gaps.length;
  return (time) => {
    let worked = time - timeline.from;
    let before = 0;
    for (const gap of gaps) {
      if (time >= gap.to) {
        worked -= gap.to - gap.from;
        before += part;
      } else if (time > gap.from) {
        const inside = (time - gap.from) / (gap.to - gap.from);
        worked -= time - gap.from;
        before += part * inside;
      }
    }
    return Math.max(0, Math.min(1, (worked / work) * rest + before));
  };
}

const MINUTE = 60_000;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720].map((n) => n * MINUTE)];
const DAY = 1440 * MINUTE;

/** The times to label, with their places: the begin, then round times outside of the gaps that are at least `apart`. */
export function ticksOf(timeline: Timeline, gaps: Gap[], scale: (time: number) => number, apart: number): { time: number; at: number }[] {
  const edges = [timeline.from, ...gaps.flatMap((gap) => [gap.from, gap.to]), timeline.to];
  let [work, width] = [0, 0];
  for (let i = 0; i < edges.length; i += 2) {
    work += edges[i + 1]! - edges[i]!;
    width += scale(edges[i + 1]!) - scale(edges[i]!);
  }
  const least = (apart * work) / Math.max(0.001, width);
  const step = STEPS.find((one) => one >= least) ?? Math.ceil(least / DAY) * DAY;
  const ticks = [{ time: timeline.from, at: 0 }];
  for (let i = 0; i < edges.length; i += 2) {
    for (let time = Math.ceil(edges[i]! / step) * step; time <= edges[i + 1]!; time += step) {
      const at = scale(time);
      if (at >= ticks[ticks.length - 1]!.at + apart && at <= 1 - apart) ticks.push({ time, at });
    }
  }
  return ticks;
}
