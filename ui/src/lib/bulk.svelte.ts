// One act on many instances, one after another: first one as a trial, if a person wants that, then the others. What the
// server refuses is skipped with its reason; while the server is away, the act stops where it is and can go on later.
import { call, path, Problem, type InstanceDetail } from '../api/client';

export type BulkVerb = 'requeue' | 'rerun' | 'cancel' | 'pause' | 'resume' | 'abort' | 'signal';
/** What a person adds to the act. */
export interface Said {
  reason?: string;
  signal?: { name: string; payload: unknown };
}
export interface Target {
  id: string;
  key: string | null;
  status: string;
  /** The act is done on this revision only; without one, on whatever the instance is by then. */
  revision?: number;
}
interface Skipped {
  target: Target;
  why: string;
}
type Failure = { code?: string; step?: string; message?: string } | null | undefined;

/** In which states an act is possible. */
export const FITS: Record<BulkVerb, string[]> = { requeue: ['dead_letter'], rerun: ['failed', 'cancelled', 'aborted'], cancel: ['running', 'paused', 'dead_letter'], abort: ['running', 'paused', 'dead_letter', 'compensating'], pause: ['running', 'compensating'], resume: ['paused'], signal: ['running', 'paused'] };
export const fits = (verb: BulkVerb, target: { status: string }) => FITS[verb].includes(target.status);

/** How often, and at least how long in between, a trial is looked at. */
const LOOKS = 10;
const LOOK_MS = 1000;

export class Bulk {
  phase = $state<'ask' | 'trial' | 'watched' | 'run' | 'stopped' | 'done'>('ask');
  /** All that it was begun for. The rows of a live list are others as soon as the act has changed them. */
  targets = $state.raw<Target[] | undefined>();
  done = $state(0);
  skipped = $state.raw<Skipped[]>([]);
  /** Why it stopped by itself. */
  problem = $state.raw<Problem | undefined>();
  trial = $state.raw<Target | undefined>();
  result = $state<'' | 'good' | 'same' | 'other' | 'refused' | 'open'>('');
  /** What the trial failed with again. */
  failure = $state.raw<Failure>();
  #rest: Target[] = [];
  #is_stopped = false;
  // One for the whole act: an instance that is tried again after a lost answer gets the signal once.
  #request = crypto.randomUUID?.() ?? String(Math.random());

  constructor(readonly verb: BulkVerb) {}

  get isBad() {
    return this.result === 'same' || this.result === 'other' || this.result === 'refused';
  }

  stop() {
    this.#is_stopped = true;
  }

  /** False: the server is away, so nothing is known of this one and all others. */
  async #one(target: Target, said: Said): Promise<boolean> {
    const body = this.verb === 'signal' ? said.signal : said.reason && ['cancel', 'abort', 'pause'].includes(this.verb) ? { reason: said.reason } : {};
    const headers: Record<string, string> = target.revision === undefined ? {} : { 'If-Match': `"${target.revision}"` };
    if (this.verb === 'signal') headers['Idempotency-Key'] = `${this.#request}-${target.id.slice(-12)}`;
    try {
      await call(path('instances', target.id, this.verb), { method: 'POST', body, headers });
      this.done += 1;
    } catch (error) {
      if ((error as Problem).isPassing) {
        this.problem = error as Problem;
        return false;
      }
      this.skipped = [...this.skipped, { target, why: (error as Problem).message }];
    }
    return true;
  }

  /** Does it to the first one, and looks for some seconds whether that fails again. */
  async tryOne(targets: Target[]) {
    const [first, ...rest] = targets;
    if (!first) return;
    this.phase = 'trial';
    this.targets = targets;
    this.problem = undefined;
    this.trial = first;
    try {
      const before = (await call<InstanceDetail>(path('instances', first.id))).data;
      if (!(await this.#one({ ...first, revision: before.revision }, {}))) throw this.problem;
      this.#rest = rest;
      this.result = this.skipped.length ? 'refused' : 'open';
      for (let i = 0; i < LOOKS && this.result === 'open' && !this.#is_stopped; ++i) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        this.#judge(before, (await call<InstanceDetail>(path('instances', first.id))).data);
      }
      this.phase = 'watched';
    } catch (error) {
      // Without an answer to the act itself, it is still to be done.
      this.problem = error as Problem;
      this.phase = this.result ? 'watched' : 'ask';
      if (this.phase === 'ask') this.targets = undefined;
    }
  }

  #judge(before: InstanceDetail, after: InstanceDetail) {
    this.trial = after;
    if (after.status === 'completed') this.result = 'good';
    // What needs no worker may fail again in the very revision of the act.
    if (after.status !== 'dead_letter' || after.revision <= before.revision) return;
    const [old, now] = [before.error as Failure, after.error as Failure];
    this.failure = now;
    this.result = old?.code === now?.code && old?.step === now?.step ? 'same' : 'other';
  }

  async run(targets: Target[], said: Said = {}) {
    this.targets = targets;
    this.#rest = targets;
    await this.goOn(said);
  }

  /** Those that are left, after a trial or a stop. */
  async goOn(said: Said = {}) {
    this.phase = 'run';
    this.problem = undefined;
    this.#is_stopped = false;
    while (this.#rest.length && !this.#is_stopped && (await this.#one(this.#rest[0]!, said))) this.#rest = this.#rest.slice(1);
    this.phase = this.#rest.length ? 'stopped' : 'done';
  }

  async trySkipped(said: Said = {}) {
    this.#rest = this.skipped.map((one) => ({ ...one.target, revision: undefined }));
    this.skipped = [];
    await this.goOn(said);
  }
}
