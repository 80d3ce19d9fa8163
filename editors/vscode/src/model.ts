// What `ebb` prints of instances as JSON, and the bars of a timeline. Nothing of VS Code, so that a test can run it alone.

export interface Wait {
  kind: string;
  node: string | null;
  what: string | null;
  until: string | null;
  sentence: string;
}

export interface Summary {
  id: string;
  workflow: string;
  version: number;
  key: string | null;
  status: string;
  created_at: string;
  finished_at: string | null;
  waiting_for?: Wait[];
}

export interface Step {
  node: string;
  kind: string;
  path: string | null;
  visit: number;
  status: string;
  attempts: number;
  input: unknown;
  output: unknown;
  error: unknown;
  started_at: string | null;
  finished_at: string | null;
}

export interface Instance extends Summary {
  input: unknown;
  output: unknown;
  error: unknown;
  steps: Step[];
  waiting_for: Wait[];
}

export interface HistoryEvent {
  seq: number;
  at: string;
  type: string;
  node: string | null;
  visit: number;
  attempt: number;
  payload: unknown;
  started_at: string | null;
}

/** What a panel shows. */
export interface Shown {
  instance: Instance;
  why: string;
  svg: string;
  events: HistoryEvent[];
  now: string;
}

/** A part of a row: from and to are fractions of the whole time. */
export interface Bar {
  kind: 'done' | 'failed' | 'undone' | 'wait' | 'running';
  from: number;
  to: number;
  title: string;
}

export interface Row {
  node: string;
  bars: Bar[];
}

const WAIT_BEGINS = new Set(['timer_started', 'decision_awaited', 'signal_awaited']);
const WAIT_ENDS = new Set(['timer_fired', 'decision_completed', 'signal_completed']);

/** How a length of time is written in the timeline. */
export function lengthOf(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 1) return `${Math.round(milliseconds)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

function kindOf(type: string): Bar['kind'] {
  if (type === 'step_compensated') return 'undone';
  return /failed|retried|stopped/.test(type) ? 'failed' : 'done';
}

/** One row for each node in the order in which they began; each attempt, each compensation and each wait is a bar. */
export function timeline(shown: Pick<Shown, 'instance' | 'events' | 'now'>): Row[] {
  const { instance, events } = shown;
  const begin = Date.parse(instance.created_at);
  const end = Math.max(Date.parse(instance.finished_at ?? shown.now), begin + 1, ...events.map((event) => Date.parse(event.at)));
  const rows = new Map<string, Bar[]>();
  const waits = new Map<string, number>();
  const place = (time: number) => Math.min(1, Math.max(0, (time - begin) / (end - begin)));
  const add = (node: string, kind: Bar['kind'], from: number, to: number, words: string) => {
    const bars = rows.get(node) ?? [];
    rows.set(node, bars);
    bars.push({ kind, from: place(from), to: place(to), title: `${node}: ${words}, ${lengthOf(to - from)}` });
  };
  for (const event of events) {
    if (event.node === null) continue;
    const key = `${event.node}/${event.visit}`;
    const at = Date.parse(event.at);
    const words = event.type.replaceAll('_', ' ') + (event.attempt > 1 ? ` (attempt ${event.attempt})` : '');
    if (WAIT_BEGINS.has(event.type)) waits.set(key, at);
    if (WAIT_ENDS.has(event.type)) {
      add(event.node, 'wait', waits.get(key) ?? at, at, words);
      waits.delete(key);
    } else if (event.started_at !== null) {
      add(event.node, kindOf(event.type), Date.parse(event.started_at), at, words);
    }
  }
  // What has not ended goes on to the end of the picture.
  for (const [key, since] of waits) if (instance.finished_at === null) add(key.slice(0, key.lastIndexOf('/')), 'wait', since, end, 'waits');
  for (const step of instance.steps) {
    if (step.status === 'running' && step.started_at !== null) add(step.node, 'running', Date.parse(step.started_at), end, 'runs');
  }
  return [...rows].map(([node, bars]) => ({ node, bars }));
}

/** What a person can do about an instance in this state. */
export const ACTS = ['decide', 'signal', 'requeue', 'pause', 'resume', 'cancel', 'abort'] as const;
export type Act = (typeof ACTS)[number];

const ENDED = new Set(['completed', 'failed', 'cancelled', 'aborted', 'moved']);

export function actsFor(instance: Pick<Summary, 'status' | 'waiting_for'>): Act[] {
  if (ENDED.has(instance.status)) return [];
  const acts: Act[] = [];
  const waits = (kind: string) => instance.waiting_for?.some((wait) => wait.kind === kind) ?? false;
  if (waits('decision')) acts.push('decide');
  if (waits('signal')) acts.push('signal');
  if (instance.status === 'dead_letter') acts.push('requeue');
  if (instance.status === 'running') acts.push('pause');
  if (instance.status === 'paused') acts.push('resume');
  acts.push('cancel', 'abort');
  return acts;
}

/** `3 running, 1 dead letter`. */
export const countsText = (counts: Record<string, number>) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status.replaceAll('_', ' ')}`)
    .join(', ');

/** The end of an id, which is what differs between instances of a day. */
export const shortId = (id: string) => id.slice(-8);

/** The parts of a definition that hold data and no nodes. */
const DATA = new Set(['input', 'output', 'metadata', 'schema', 'input_schema', 'handlers', 'samples', 'labels']);

/** The handlers that a definition calls and does not describe, sorted. */
export function missingHandlers(definition: unknown): string[] {
  const known = new Set(Object.keys((definition as { handlers?: object }).handlers ?? {}));
  const called = new Set<string>();
  const look = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(look);
    if (typeof part !== 'object' || part === null) return;
    const { step, do: rule, handler, compensate } = part as Record<string, unknown>;
    const own = [handler, step, rule].find((name) => typeof name === 'string');
    const undone = typeof compensate === 'object' && compensate !== null ? (compensate as { handler?: unknown }).handler : compensate;
    for (const name of [own, undone]) if (typeof name === 'string') called.add(name);
    for (const [key, value] of Object.entries(part)) if (!DATA.has(key)) look(value);
  };
  look(definition);
  return [...called].filter((name) => !known.has(name)).sort();
}
