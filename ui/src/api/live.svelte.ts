// One stream of server-sent events for all tabs of this browser: a browser allows six connections for each host, and each
// stream takes one. One tab leads (a Web Lock), holds the stream and passes on what comes; the others tell it their topics.
// Without locks (plain HTTP on another host) each tab has a stream of its own.
import { api } from '../lib/base';
import { clock } from '../lib/clock.svelte';
import type { Schemas } from './client';

export interface Message {
  kind: string;
  data: unknown;
}
type Listener = (message: Message) => void;
interface Want {
  topics: string[];
  /** Of `instance:ID` topics, the last event that the tab has. */
  positions: Record<string, number>;
}
type Post =
  | ({ type: 'want'; tab: string } & Want)
  | { type: 'bye'; tab: string }
  | { type: 'lead' }
  | { type: 'state'; state: State }
  | { type: 'message'; topic: string; message: Message };
/** `draining`: the server has said that it shuts down; it lasts until a server greets again. */
type State = 'idle' | 'connecting' | 'open' | 'lost' | 'draining';

let state = $state<State>('idle');
export const live = {
  get state() {
    return state;
  },
};

const tab = Math.random().toString(36).slice(2);
const listeners = new Map<string, Set<Listener>>();
const positions: Record<string, number> = {};
const wants = new Map<string, Want>();
let channel: BroadcastChannel | undefined;
let is_leader = false;
let stream: EventSource | undefined;
let open_topics: string[] = [];
let pending: ReturnType<typeof setTimeout> | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let holds = 0;
const HOLD_MS = 10_000;
/** Whole states by topic, of which only the newest matters. */
const held = new Map<string, Message>();

function setState(next: State) {
  state = next;
  if (is_leader) channel?.postMessage({ type: 'state', state: next } satisfies Post);
}

/** What comes for `topic` goes to `listener` until the returned function is called. */
export function subscribe(topic: string, listener: Listener, position?: number): () => void {
  const all = listeners.get(topic) ?? new Set();
  listeners.set(topic, all.add(listener));
  if (position !== undefined) positions[topic] = Math.max(position, positions[topic] ?? 0);
  announce();
  return () => {
    all.delete(listener);
    if (all.size === 0) {
      listeners.delete(topic);
      delete positions[topic];
      announce();
    }
  };
}

/** Delays the stream until the returned function is called, so that a page subscribes to all its topics first and opens
 * one stream. A slow answer delays it by at most HOLD_MS. */
export function holdStream(): () => void {
  ++holds;
  let is_held = true;
  const release = () => {
    if (!is_held) return;
    is_held = false;
    clearTimeout(limit);
    if (--holds === 0) announce();
  };
  const limit = setTimeout(release, HOLD_MS);
  return release;
}

function announce() {
  clearTimeout(pending);
  // Changes of pages come in bursts.
  pending = setTimeout(() => {
    if (holds > 0) return;
    const want: Want = { topics: [...listeners.keys()], positions: { ...positions } };
    wants.set(tab, want);
    if (is_leader) reopen();
    else channel?.postMessage({ type: 'want', tab, ...want } satisfies Post);
  }, 50);
}

function wanted(): string[] {
  const names = new Set<string>();
  for (const want of wants.values()) for (const topic of want.topics) names.add(topic);
  return [...names].sort().slice(0, 50);
}

function positionOf(topic: string): number {
  let least = Infinity;
  for (const want of wants.values()) {
    if (want.topics.includes(topic)) least = Math.min(least, want.positions[topic] ?? 0);
  }
  return Number.isFinite(least) ? least : 0;
}

function reopen(force = false) {
  const topics = wanted();
  if (!force && stream && topics.join(' ') === open_topics.join(' ')) return;
  clearTimeout(retry);
  const before = stream;
  open_topics = topics;
  if (topics.length === 0) {
    before?.close();
    stream = undefined;
    setState('idle');
    return;
  }
  const search = topics.map((topic) => 'topic=' + encodeURIComponent(topic.startsWith('instance:') ? `${topic}@${positionOf(topic)}` : topic));
  if (state !== 'open' && state !== 'draining') setState('connecting');
  const next = (stream = new EventSource(`${api}/events?${search.join('&')}`));
  const topicOf = (data: { topic?: number }) => topics[data.topic ?? -1];
  const pass = (kind: string) => (event: MessageEvent) => {
    const data = JSON.parse(event.data);
    const topic = topicOf(data);
    if (topic) deliver(topic, { kind, data });
  };
  for (const kind of ['history', 'instance', 'list', 'changed', 'end']) next.addEventListener(kind, pass(kind));
  next.addEventListener('hello', (event) => {
    const hello = JSON.parse((event as MessageEvent).data) as Schemas['Hello'];
    clock.sync(hello.server_time);
    before?.close();
    failures = 0;
    setState('open');
  });
  next.addEventListener('lagged', () => later());
  next.addEventListener('drain', () => later('draining'));
  next.onerror = () => {
    if (stream !== next) return;
    before?.close();
    later();
  };
}

/** The server went away, or asked us to come back. */
function later(next: State = 'lost') {
  stream?.close();
  stream = undefined;
  if (state !== 'draining') setState(next);
  clearTimeout(retry);
  const pause = Math.min(30_000, 500 * 2 ** failures++) * (0.7 + 0.6 * Math.random());
  retry = setTimeout(() => reopen(true), pause);
}

function deliver(topic: string, message: Message) {
  if (message.kind === 'history') {
    const events = (message.data as Schemas['HistoryMessage']).events;
    const last = events[events.length - 1]?.seq ?? 0;
    for (const want of wants.values()) if (want.topics.includes(topic)) want.positions[topic] = Math.max(want.positions[topic] ?? 0, last);
    if (topic in positions) positions[topic] = Math.max(positions[topic] ?? 0, last);
  }
  if (message.kind === 'list') hold(topic, message);
  else hear(topic, message);
  if (is_leader && isWantedElsewhere(topic)) channel?.postMessage({ type: 'message', topic, message } satisfies Post);
}

function hear(topic: string, message: Message) {
  for (const listener of listeners.get(topic) ?? []) listener(message);
}

/** A list is drawn at most once for each frame, and not at all while its page is not seen. */
function hold(topic: string, message: Message) {
  if (held.size === 0) requestAnimationFrame(release);
  held.set(topic, message);
}

function release() {
  const all = [...held];
  held.clear();
  for (const [topic, message] of all) hear(topic, message);
}

function isWantedElsewhere(topic: string): boolean {
  for (const [name, want] of wants) if (name !== tab && want.topics.includes(topic)) return true;
  return false;
}

function receive(post: Post) {
  if (post.type === 'lead') announce();
  else if (post.type === 'state' && !is_leader) state = post.state;
  else if (post.type === 'message' && !is_leader) {
    if (listeners.has(post.topic)) deliver(post.topic, post.message);
  } else if (is_leader && post.type === 'want') {
    wants.set(post.tab, { topics: post.topics, positions: post.positions });
    channel?.postMessage({ type: 'state', state } satisfies Post);
    // A tab that joins needs the state with which every topic begins.
    reopen(true);
  } else if (is_leader && post.type === 'bye') {
    wants.delete(post.tab);
    reopen();
  }
}

/** The server answers again: no need to wait for the next try. */
export function reconnect() {
  if ((state === 'lost' || state === 'draining') && is_leader) reopen(true);
}

export function startLive() {
  addEventListener('online', reconnect);
  if (!('locks' in navigator) || !('BroadcastChannel' in window)) {
    is_leader = true;
    return;
  }
  channel = new BroadcastChannel('ebb.live');
  channel.onmessage = (event) => receive(event.data as Post);
  addEventListener('pagehide', () => channel?.postMessage({ type: 'bye', tab } satisfies Post));
  void navigator.locks.request('ebb.live', () => {
    is_leader = true;
    wants.clear();
    channel?.postMessage({ type: 'lead' } satisfies Post);
    announce();
    return new Promise(() => {});
  });
}
