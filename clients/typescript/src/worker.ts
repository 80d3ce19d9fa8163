/** A worker: it gets tasks from the server, calls handlers, and reports what came out. */
import { Client, Problem, TlsError, sleep } from './client.js';

const REMEMBERED = 4096;
const OUTPUT_BYTES_MAX = 1 << 20;
const MESSAGE_BYTES_MAX = 60_000;
const LINE_BYTES_MAX = 8 << 10;
const PROGRESS_BYTES_MAX = 16 << 10;
const TOGETHER_MAX = 64;
const NOT_ALLOWED = [400, 413]; // what the request says is not allowed, or too large
const LAST_WORDS = 2_000; // milliseconds for a request after `stop`

export interface FailureOptions {
  code?: string;
  permanent?: boolean;
  /** In milliseconds. */
  retryAfter?: number;
  details?: unknown;
}

/**
 * A failure with a code. Any other exception is a failure with the code `error`. Throws a RangeError if the code
 * cannot be stored.
 */
export class Failure extends Error {
  constructor(message: string, readonly options: FailureOptions = {}) {
    super(message);
    this.name = 'Failure';
    const { code = 'error' } = options;
    if (/^[A-Za-z0-9_.-]{1,64}$/.test(code)) return;
    const allowed = 'A code has 1 to 64 letters, digits, "_", "-" and "."';
    throw new RangeError(`${allowed}, not "${code.slice(0, 100)}". The failure was: ${message}`);
  }
}

/** The text as every store can keep it: without NUL and lone surrogates, and not longer. */
function plainText(text: unknown, bytesMax = MESSAGE_BYTES_MAX): string {
  const plain = String(text).slice(0, bytesMax).replace(/\0|[\ud800-\udfff]/gu, '\ufffd');
  const bytes = new TextEncoder().encode(plain);
  return new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true });
}

/** Ends the call without a result: the handler is called again when a signal with the step's name arrives. */
export class Pause extends Error {}

/** The result of the call is not wanted any more. */
export class Stopped extends Error {}

/** Another worker has opened a session with this worker's name. */
export class Displaced extends Error {}

/** An output that leaves its node of a graph by the edge with this handle. */
export class Result {
  constructor(readonly output: unknown, readonly handle = '') {}
}

export interface Task {
  task: string;
  instance: string;
  workflow: string;
  version: number;
  step: string;
  handler: string;
  attempt: number;
  max_attempts: number;
  pauses: number;
  /** The same for each attempt of one visit of the step. */
  idempotency_key: string;
  deadline: string | null;
  /** Then `input` has the input, output, error and outcome of the step to undo. */
  is_compensation: boolean;
  input: any;
  payload: any;
  metadata: any;
}

export type LogLevel = 'debug' | 'info' | 'warning' | 'error';
export type Handler = (input: any, context: Context) => unknown;

interface Note {
  task: string;
  progress?: unknown;
  log?: { level: LogLevel; message: string }[];
}

interface Report {
  task: string;
  completed?: object;
  failed?: { message: string; code: string; permanent?: boolean };
  paused?: boolean;
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** One call. */
export class Context {
  private readonly stopping = new AbortController();

  constructor(
    readonly task: Task,
    private readonly note: (change: (note: Note) => void) => void,
    private readonly encode: (value: unknown) => string = JSON.stringify,
  ) {}

  /** Fires when the result is not wanted any more: timeout, cancel, or a lost lease. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  /** For long handlers to call now and then. The worker keeps the lease by itself. */
  heartbeat() {
    if (this.signal.aborted) throw new Stopped(`${this.task.step} is to stop`);
  }

  /** Writes to the log of the server. */
  log(message: string, level: LogLevel = 'info') {
    this.note((note) => {
      note.log ??= [];
      if (note.log.length < 100) note.log.push({ level, message: plainText(message, LINE_BYTES_MAX) });
    });
  }

  /** Shows how far the call has come. Only the newest value is kept. It has at most 16 KiB of JSON. */
  progress(value: unknown) {
    if (bytesOf(this.encode(value)) > PROGRESS_BYTES_MAX) throw new RangeError('A progress has at most 16 KiB of JSON.');
    this.note((note) => (note.progress = value));
  }

  pause(): never {
    throw new Pause();
  }

  /** For the worker. */
  stop() {
    this.stopping.abort();
  }
}

export interface WorkerOptions {
  workerId?: string;
  /** How many handlers run at the same time. */
  slots?: number;
  queues?: string[];
  /** Milliseconds after which other workers take the tasks of a worker that is gone. */
  lease?: number;
}

export class Worker {
  private readonly handlers = new Map<string, Handler>();
  private readonly running = new Map<string, Context>();
  private readonly done = new Map<string, Report>(); // reports that are not recorded
  private together = TOGETHER_MAX; // how many reports a request has
  private refused?: string; // the task whose outcome the server has refused
  private readonly finished = new Set<string>(); // tokens, so that no answer runs one twice
  private notes = new Map<string, Note>();
  private session = '';
  private wait = '15s';
  private readonly stopping = new AbortController();
  private lastWords?: ReturnType<typeof setTimeout>;
  private asking?: AbortController; // a poll is open that may bring tasks
  private readonly over = new AbortController(); // fires at the end, or before there is a session
  private giveUpAt = Infinity;
  private wake: () => void = () => {};

  constructor(private readonly client: Client, private readonly options: WorkerOptions = {}) {}

  private get slots(): number {
    return this.options.slots ?? 4;
  }

  add(name: string, handler: Handler): this {
    this.handlers.set(name, handler);
    return this;
  }

  /** Takes no more tasks; `run` returns when the running handlers have ended. */
  stop() {
    if (this.isStopping) return;
    this.stopping.abort();
    this.wake();
    if (this.session) return void this.endPoll();
    // If the server is just about to open the session, the worker has to sign off.
    this.lastWords = setTimeout(() => this.session || this.over.abort(), LAST_WORDS);
  }

  /**
   * Works until `stop`. Then the running handlers end, and their results are reported; while the server is
   * away, that is tried for the client's `patience`. Throws Displaced, Problem if the server refuses the
   * worker, TlsError, and what fetch throws if the server cannot be reached at the start for the client's
   * `patience`.
   */
  async run() {
    try {
      await this.open(this.client.patience);
    } catch (error) {
      // A worker that is to stop and has never reached the server has nothing to say.
      if (this.isStopping) return;
      throw error;
    } finally {
      clearTimeout(this.lastWords);
    }
    const loops = [this.pollLoop(), this.reportLoop()];
    try {
      await Promise.race(loops);
    } finally {
      this.over.abort();
      for (const context of this.running.values()) context.stop();
    }
    await Promise.allSettled(loops);
    if (this.done.size > 0) {
      const what = `cannot report ${this.done.size} results: the server is away. The steps are called again.`;
      console.warn(`${this.options.workerId} ${what}`);
    }
    const close = { session: this.session };
    const options = { patience: LAST_WORDS / 2, timeout: LAST_WORDS };
    await this.client.repeat('POST', '/worker/close', close, options).catch(() => {
      // The lease ends by itself.
    });
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private get isOver(): boolean {
    return this.over.signal.aborted;
  }

  private get isIdle(): boolean {
    if (!this.isStopping || this.asking || this.running.size > 0) return false;
    if (this.done.size === 0) return true;
    // Reports that the server does not take.
    this.giveUpAt = Math.min(this.giveUpAt, Date.now() + this.client.patience);
    return Date.now() > this.giveUpAt;
  }

  private get held(): string[] {
    return [...new Set([...this.running.keys(), ...this.done.keys()])];
  }

  private async open(patience: number) {
    const body = {
      handlers: [...this.handlers.keys()],
      queues: this.options.queues ?? [],
      slots: this.slots,
      lease: `${this.options.lease ?? 30_000}ms`,
      sdk: 'typescript',
      ...(this.options.workerId ? { worker_id: this.options.workerId } : {}),
    };
    const answer = await this.client.repeat('POST', '/worker/sessions', body, {
      patience,
      signal: this.over.signal,
      until: this.stopping.signal,
    });
    this.options.workerId = answer.worker_id;
    this.wait = answer.max_wait;
    this.session = answer.session;
  }

  /** The answer, or nothing if the server cannot take it now. */
  private async send(path: string, body: object, signal = this.over.signal): Promise<any> {
    try {
      return await this.client.request('POST', path, { session: this.session, ...body }, { signal });
    } catch (error) {
      if (error instanceof TlsError) throw error;
      if (!(error instanceof Problem)) return undefined;
      if (error.code === 'worker_displaced') throw new Displaced(error.detail);
      if (error.code === 'invalid_session') await this.reopen();
      else if (!error.isTransient) throw error;
      return undefined;
    }
  }

  /** Not after the end: the worker has signed off. */
  private async reopen() {
    try {
      if (!this.isOver) await this.open(0);
    } catch (error) {
      if (error instanceof TlsError || (error instanceof Problem && !error.isTransient)) throw error;
    }
  }

  /** A newer poll ends the one that waits for tasks, so that none is on its way when the worker ends. */
  private async endPoll() {
    while (this.asking && !this.isOver) {
      const { asking } = this;
      const body = { session: this.session, free: 0, wait: '0s', held: this.held };
      try {
        this.take(await this.client.request('POST', '/worker/poll', body, { timeout: LAST_WORDS }));
      } catch {
        asking.abort();
      }
      await sleep(50, this.over.signal);
    }
  }

  private async pollLoop() {
    let pause = 50;
    while (!this.isOver && !this.isIdle) {
      const asking = this.isStopping ? undefined : new AbortController();
      this.asking = asking;
      const free = asking ? Math.max(0, this.slots - this.running.size) : 0;
      const body = { free, wait: asking ? this.wait : '200ms', held: this.held };
      const stop = () => asking?.abort();
      this.over.signal.addEventListener('abort', stop);
      const answer = await this.send('/worker/poll', body, asking?.signal);
      this.over.signal.removeEventListener('abort', stop);
      if (answer && !this.isOver) this.take(answer);
      this.asking = undefined;
      this.wake();
      if (this.isOver) return;
      if (answer && !answer.drain) {
        pause = 50;
        continue;
      }
      await sleep(pause * (0.5 + Math.random() / 2), this.over.signal);
      pause = Math.min(pause * 2, 2_000);
    }
  }

  private take(answer: { tasks: Task[]; stop: string[]; lost: string[] }) {
    for (const token of [...answer.stop, ...answer.lost]) this.running.get(token)?.stop();
    for (const task of answer.tasks) {
      const token = task.task;
      if (this.running.has(token) || this.done.has(token) || this.finished.has(token)) continue;
      const context = new Context(task, (change) => this.change(token, change), (value) => this.client.encode(value));
      this.running.set(token, context);
      void this.call(context);
    }
  }

  private change(token: string, change: (note: Note) => void) {
    const note = this.notes.get(token) ?? { task: token };
    change(note);
    this.notes.set(token, note);
    this.wake();
  }

  private async call(context: Context) {
    let report: Omit<Report, 'task'>;
    try {
      const value = await this.handlers.get(context.task.handler)!(context.task.input, context);
      const result = value instanceof Result ? value : new Result(value ?? null);
      this.checkOutput(result.output);
      report = { completed: { output: result.output, handle: result.handle } };
    } catch (error) {
      report = error instanceof Pause ? { paused: true } : { failed: failureOf(error) };
    }
    this.running.delete(context.task.task);
    this.done.set(context.task.task, { task: context.task.task, ...report });
    this.wake();
  }

  private checkOutput(output: unknown) {
    const invalid = { code: 'invalid_output', permanent: true };
    let bytes = 0;
    try {
      bytes = bytesOf(this.client.encode(output));
    } catch (error) {
      throw new Failure(`The output is not JSON: ${plainText(error)}`, invalid);
    }
    if (bytes > OUTPUT_BYTES_MAX) throw new Failure('The output is too large.', invalid);
  }

  /** Until there is something to send, or half a second has gone by. */
  private news(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 500);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async reportLoop() {
    let pause = 20;
    while (!this.isOver && !this.isIdle) {
      if (this.done.size === 0 && this.notes.size === 0) {
        await this.news();
        continue;
      }
      const notes = [...this.notes.values()].slice(0, 64);
      for (const note of notes) this.notes.delete(note.task);
      const done = [...this.done.entries()].slice(0, this.together);
      let answer: any;
      try {
        answer = await this.send('/worker/complete', { done: done.map(([, report]) => report), notes });
      } catch (error) {
        this.refuse(done, error);
        continue;
      }
      let isPending = !answer;
      if (answer) {
        this.together = TOGETHER_MAX;
        this.take(answer);
      }
      if (!answer) for (const note of notes) if (!this.notes.has(note.task)) this.notes.set(note.task, note);
      for (const result of answer?.results ?? []) {
        if (result.outcome === 'pending') isPending = true;
        else this.finish(result.task);
      }
      pause = isPending ? Math.min(pause * 2, 2_000) : 20;
      if (isPending) await sleep(pause, this.over.signal);
    }
  }

  /**
   * The server refuses a request as a whole. The next one has a single report; if that is refused, its attempt
   * fails.
   */
  private refuse(done: [string, Report][], error: unknown) {
    const token = done[0]?.[0];
    const isAllowed = !(error instanceof Problem) || !NOT_ALLOWED.includes(error.status);
    if (isAllowed || token === undefined || token === this.refused) throw error;
    if (done.length > 1) {
      this.together = 1;
      return;
    }
    this.refused = token;
    const text = `The outcome was refused: ${error.detail}`;
    console.warn(`${this.options.workerId}: ${text}`);
    const said = done[0]![1].failed?.message;
    const failed =
      said === undefined
        ? { message: plainText(text), code: 'invalid_output', permanent: true }
        : { message: plainText(`${said}\n${text}`), code: 'error' };
    this.done.set(token, { task: token, failed });
  }

  private finish(token: string) {
    this.done.delete(token);
    this.finished.add(token);
    for (const oldest of this.finished) {
      if (this.finished.size <= REMEMBERED) break;
      this.finished.delete(oldest);
    }
  }
}

function failureOf(error: unknown): NonNullable<Report['failed']> {
  if (!(error instanceof Failure)) return { message: plainText(error), code: 'error' };
  const { code = 'error', permanent = false, retryAfter, details } = error.options;
  return {
    message: plainText(error.message),
    code,
    permanent,
    ...(retryAfter === undefined ? {} : { retry_after: `${Math.round(retryAfter)}ms` }),
    ...(details === undefined ? {} : { details }),
  };
}
