/** The HTTP API of `ebb serve`. */

/** The server has refused a request. `code` is stable, `detail` is a sentence for people. */
export class Problem extends Error {
  readonly code: string;
  readonly detail: string;

  constructor(readonly status: number, readonly document: Record<string, unknown>) {
    const code = String(document['code'] ?? 'unknown');
    const detail = String(document['detail'] ?? '');
    super(`${code} (${status}): ${detail}`);
    this.name = 'Problem';
    this.code = code;
    this.detail = detail;
  }

  /** The same request may succeed later. */
  get isTransient(): boolean {
    return [408, 429, 500, 502, 503, 504, 507].includes(this.status);
  }
}

/**
 * The server's certificate is not trusted, or the server refuses that of the client, or it does not use
 * TLS. It is thrown at once, because no repetition helps.
 */
export class TlsError extends Error {
  constructor(message: string, options: { cause: unknown }) {
    super(message, options);
    this.name = 'TlsError';
  }
}

export interface ClientOptions {
  token?: string;
  /** Of one request, in milliseconds. */
  timeout?: number;
  /** How long a request is repeated while the server cannot be reached, in milliseconds. */
  patience?: number;
  /**
   * Sends the requests instead of the global `fetch`: one that trusts authorities of your own, or logs in
   * by a client certificate instead of a token.
   */
  fetch?: typeof fetch;
  /** Reads JSON instead of `JSON.parse`, which rounds numbers above 2^53: such as that of `lossless-json`. */
  parse?: (text: string) => unknown;
  /** Writes JSON instead of `JSON.stringify`. */
  stringify?: (value: unknown) => string | undefined;
}

export interface RerunOptions {
  /** Another input; absent = that of the old instance. */
  input?: unknown;
  /** Of the new instance. */
  key?: string;
  /** Absent = the newest. */
  version?: number;
}

export interface StartOptions {
  /** Starting twice with one key yields one instance. */
  key?: string;
  version?: number;
  priority?: number;
  labels?: Record<string, string | number | boolean | { time: string }>;
}

export interface ActOptions {
  /** Act only if the instance still has this revision; otherwise Problem `precondition_failed`. */
  revision?: number;
}

export interface SignalOptions extends ActOptions {
  requestId?: string;
}

export interface DecideOptions extends SignalOptions {
  role?: string;
  comment?: string;
  /** Which decision, if several are awaited. */
  node?: string;
  /** In whose name it is done (permission `act_as`). */
  by?: string;
}

export interface RequeueOptions extends ActOptions {
  /** A new input of the failed step. */
  input?: unknown;
  /** Skip the compensation that failed for good. */
  skipCompensation?: boolean;
}

export interface ListOptions {
  workflow?: string;
  status?: string | string[];
  /** A filter, such as `labels.customer == "acme"`. */
  where?: string;
  labels?: Record<string, string>;
  key?: string;
  keyPrefix?: string;
  /** RFC 3339. */
  createdAfter?: string;
  createdBefore?: string;
  /** How many at most. */
  limit?: number;
}

export interface EventOptions {
  /** The `seq` of the last event that is known. */
  after?: number;
  /** Ends the stream. */
  signal?: AbortSignal;
}

export interface Instance {
  id: string;
  workflow: string;
  version: number;
  key: string | null;
  status: string;
  priority: number;
  revision: number;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
  labels?: Record<string, unknown>;
}

export interface SteeredInstance extends Instance {
  /** False if there was nothing to do. */
  changed?: boolean;
}

export interface HistoryEvent {
  seq: number;
  at: string;
  type: string;
  node: string | null;
  path: string | null;
  visit: number;
  attempt: number;
  /** The event that this one is about; 0 if none. */
  ref: number;
  payload: any;
  worker: string | null;
  started_at: string | null;
}

export interface InstanceResult {
  id: string;
  status: string;
  is_finished: boolean;
  output: unknown;
  error: unknown;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Ends the request, and with `repeat` the repetition. */
  signal?: AbortSignal;
  /** Of `repeat`: ends the repetition, but not a request that is on its way. */
  until?: AbortSignal;
  /** In milliseconds, instead of the client's. */
  timeout?: number;
  /** Of `repeat`, instead of the client's. */
  patience?: number;
}

interface Link {
  response: Response;
  /** Restarts the timeout. */
  goOn(): void;
  close(): void;
}

/** Ends early if the signal fires. */
export const sleep = (milliseconds: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });

/**
 * Every request may be sent again after its answer was lost: a start without a key gets an
 * `Idempotency-Key`, a signal and a decision a request id. A `Problem` is what the server has refused, a
 * `TlsError` what no repetition helps against; any other error means that the server cannot be reached.
 */
export class Client {
  /** In milliseconds. */
  readonly patience: number;
  private readonly base: string;
  private readonly token?: string;
  private readonly timeout: number;
  private readonly send: typeof fetch;
  private readonly parse: (text: string) => any;
  private readonly stringify: (value: unknown) => string | undefined;

  constructor(url: string, options: ClientOptions = {}) {
    this.base = new URL(url).href.replace(/\/$/, '') + '/api/v1';
    this.token = options.token;
    this.timeout = options.timeout ?? 90_000;
    this.patience = options.patience ?? 30_000;
    this.send = options.fetch ?? ((...request) => fetch(...request));
    this.parse = options.parse ?? JSON.parse;
    this.stringify = options.stringify ?? JSON.stringify;
  }

  /** JSON as the requests have it. */
  encode(value: unknown): string {
    return this.stringify(value) ?? 'null';
  }

  /** The response, if it is not a problem. `signal` and `timeout` also end the reading of its body. */
  private async open(method: string, path: string, body: unknown, options: RequestOptions): Promise<Link> {
    const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (this.token) headers['Authorization'] = `Bearer ${this.token}`;
    const ending = new AbortController();
    const stop = () => ending.abort(options.signal?.reason);
    const late = () => ending.abort(new Error(`${method} ${this.base}${path} has timed out.`));
    let timer = setTimeout(late, options.timeout ?? this.timeout);
    const close = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', stop);
      ending.abort();
    };
    const goOn = () => {
      clearTimeout(timer);
      timer = setTimeout(late, options.timeout ?? this.timeout);
    };
    options.signal?.addEventListener('abort', stop);
    if (options.signal?.aborted) stop();
    const { send } = this;
    try {
      const response = await send(this.base + path, {
        method,
        headers,
        body: body === undefined ? undefined : this.encode(body),
        signal: ending.signal,
      });
      if (!response.ok) throw new Problem(response.status, documentOf(await response.text()));
      return { response, goOn, close };
    } catch (error) {
      close();
      throw tlsError(new URL(this.base).origin, error) ?? error;
    }
  }

  /** One request without repetition. Throws Problem, TlsError, or what fetch throws. */
  async request(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<any> {
    const link = await this.open(method, path, body, options);
    try {
      const text = await link.response.text();
      return text ? this.parse(text) : undefined;
    } finally {
      link.close();
    }
  }

  /** As `request`, but tries again while the server cannot be reached or is busy. */
  async repeat(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<any> {
    const end = Date.now() + (options.patience ?? this.patience);
    for (let pause = 50; ; pause = Math.min(pause * 2, 2_000)) {
      try {
        return await this.request(method, path, body, options);
      } catch (error) {
        const { signal, until = signal } = options;
        if (isFinal(error) || signal?.aborted || Date.now() + pause > end) throw error;
        await sleep(pause, until);
        if (until?.aborted || signal?.aborted) throw error;
      }
    }
  }

  /** Starts an instance and returns its id. */
  async start(workflow: string, input: unknown = null, options: StartOptions = {}): Promise<string> {
    const headers: Record<string, string> = {};
    if (!options.key) headers['Idempotency-Key'] = crypto.randomUUID();
    const answer = await this.repeat('POST', '/instances', { workflow, input, ...options }, { headers });
    return answer.id;
  }

  /**
   * Starts the work of an instance that has failed or was cancelled or aborted again, with its input, labels and
   * priority, on the newest version. Returns the id of the new instance; the old one does not change.
   */
  async rerun(instance: string, options: RerunOptions = {}): Promise<string> {
    const headers: Record<string, string> = {};
    if (!options.key) headers['Idempotency-Key'] = crypto.randomUUID();
    return (await this.repeat('POST', `${pathOf(instance)}/rerun`, options, { headers })).id;
  }

  /** Sends a signal: `payload` becomes the output of the step that waits for it. */
  async signal(
    instance: string,
    name: string,
    payload: unknown = null,
    options: SignalOptions = {},
  ): Promise<SteeredInstance> {
    const request_id = options.requestId ?? crypto.randomUUID();
    return this.act(instance, 'signal', { name, payload, request_id }, options);
  }

  /** Decides what waits for a person. */
  async decide(
    instance: string,
    verdict: 'confirm' | 'reject',
    options: DecideOptions = {},
  ): Promise<SteeredInstance> {
    const { role, comment, node, by, requestId = crypto.randomUUID() } = options;
    return this.act(instance, 'decide', { verdict, role, comment, node, by, request_id: requestId }, options);
  }

  /** Stops the instance and compensates what it did. */
  async cancel(instance: string, reason = '', options: ActOptions = {}): Promise<SteeredInstance> {
    return this.act(instance, 'cancel', { reason }, options);
  }

  /** Stops the instance and compensates nothing. */
  async abort(instance: string, reason = '', options: ActOptions = {}): Promise<SteeredInstance> {
    return this.act(instance, 'abort', { reason }, options);
  }

  /** Nothing more starts until `resume`. */
  async pause(instance: string, reason = '', options: ActOptions = {}): Promise<SteeredInstance> {
    return this.act(instance, 'pause', { reason }, options);
  }

  async resume(instance: string, options: ActOptions = {}): Promise<SteeredInstance> {
    return this.act(instance, 'resume', {}, options);
  }

  /** Lets a dead-lettered instance try again where it froze. */
  async requeue(instance: string, options: RequeueOptions = {}): Promise<SteeredInstance> {
    const { input, skipCompensation } = options;
    return this.act(instance, 'requeue', { input, skip_compensation: skipCompensation }, options);
  }

  private async act(instance: string, act: string, body: object, options: ActOptions) {
    const headers: Record<string, string> = {};
    if (options.revision !== undefined) headers['If-Match'] = `"${options.revision}"`;
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
    return this.repeat('POST', `${pathOf(instance)}/${act}`, given, { headers });
  }

  async show(instance: string): Promise<any> {
    return this.repeat('GET', pathOf(instance));
  }

  /** Instances, the newest first; it gets page after page. */
  async *list(options: ListOptions = {}): AsyncGenerator<Instance, void> {
    const query = new URLSearchParams();
    const add = (name: string, value?: string) => value !== undefined && query.set(name, value);
    add('workflow', options.workflow);
    add('status', Array.isArray(options.status) ? options.status.join(',') : options.status);
    add('where', options.where);
    add('key', options.key);
    add('key_prefix', options.keyPrefix);
    add('created_after', options.createdAfter);
    add('created_before', options.createdBefore);
    for (const [name, value] of Object.entries(options.labels ?? {})) query.append('label', `${name}:${value}`);
    let left = options.limit ?? Infinity;
    while (left > 0) {
      query.set('limit', String(Math.min(left, 100)));
      const page = await this.repeat('GET', `/instances?${query}`);
      yield* page.items as Instance[];
      left -= page.items.length;
      if (page.next_cursor === null) return;
      query.set('cursor', page.next_cursor);
    }
  }

  /**
   * The history, event by event, as it grows; it returns when the instance has ended. A stream that breaks
   * is continued exactly there; each break may last for the client's `patience`.
   */
  async *events(instance: string, options: EventOptions = {}): AsyncGenerator<HistoryEvent, void> {
    const { signal } = options;
    let after = options.after ?? 0;
    let end = Infinity;
    let pause = 50;
    while (!signal?.aborted) {
      const stream = this.stream(`${pathOf(instance)}/events`, after, signal);
      try {
        for await (const [name, data] of stream) {
          end = Infinity;
          if (name === 'end') return;
          if (name !== 'history') continue;
          const event: HistoryEvent = this.parse(data);
          after = event.seq;
          pause = 50;
          yield event;
        }
      } catch (error) {
        if (signal?.aborted) return;
        end = Math.min(end, Date.now() + this.patience);
        if (isFinal(error) || Date.now() + pause > end) throw error;
      }
      await sleep(pause, signal);
      pause = Math.min(pause * 2, 2_000);
    }
  }

  /** The server-sent events of one connection, as [name, data]. */
  private async *stream(path: string, after: number, signal?: AbortSignal): AsyncGenerator<[string, string]> {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': String(after) };
    const link = await this.open('GET', path, undefined, { headers, signal });
    try {
      yield ['open', ''];
      const reader = link.response.body!.getReader();
      const decoder = new TextDecoder();
      let text = '';
      while (true) {
        const { done, value } = await reader.read();
        if (done) return;
        link.goOn();
        const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
        text = blocks.pop()!;
        for (const block of blocks) yield* eventOf(block);
      }
    } finally {
      link.close();
    }
  }

  /** Waits up to `wait` milliseconds for the end. */
  async result(instance: string, wait = 60_000): Promise<InstanceResult> {
    const end = Date.now() + wait;
    while (true) {
      const rest = Math.max(0, Math.min(30_000, end - Date.now()));
      const answer = await this.repeat('GET', `${pathOf(instance)}/result?wait=${rest}ms`);
      if (answer.is_finished || Date.now() >= end) return answer;
    }
  }
}

const pathOf = (instance: string) => `/instances/${encodeURIComponent(instance)}`;

/** No repetition helps. A SyntaxError is an answer that is not JSON. */
const isFinal = (error: unknown) =>
  error instanceof Problem ? !error.isTransient : error instanceof TlsError || error instanceof SyntaxError;

function documentOf(text: string): Record<string, unknown> {
  try {
    const document = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : {};
  } catch {
    return {}; // A proxy has answered.
  }
}

/** The name and the data of a block of a stream; nothing for a comment. */
function* eventOf(block: string): Generator<[string, string]> {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
  }
  if (data.length > 0) yield [name, data.join('\n')];
}

const CERTIFICATE =
  /^(CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECRYPT|DECODE)|HOSTNAME_|INVALID_|ERR_TLS_CERT)/;

/** The error for what no repetition helps against; nothing for a connection that was cut. */
function tlsError(url: string, error: unknown): TlsError | undefined {
  for (let cause: any = error; cause instanceof Error; cause = cause.cause) {
    const code = String((cause as { code?: unknown }).code ?? '');
    const say = (text: string) => new TlsError(text, { cause: error });
    if (CERTIFICATE.test(code)) {
      const how = 'The option fetch takes one that trusts other authorities; Node also reads NODE_EXTRA_CA_CERTS.';
      return say(`The certificate of ${url} is not trusted: ${cause.message} (${code}). ${how}`);
    }
    if (!code.startsWith('ERR_SSL_') || code.includes('EOF')) continue;
    const reason = code.slice(8).toLowerCase().replaceAll('_', ' ');
    if (!code.includes('ALERT')) return say(`There is no TLS with ${url}: ${reason}.`);
    return say(`${url} refuses this client: ${reason}. The option fetch takes one with a certificate to log in by.`);
  }
  return undefined;
}
