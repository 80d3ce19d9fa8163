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
}

export interface StartOptions {
  /** Starting twice with one key yields one instance. */
  key?: string;
  version?: number;
  priority?: number;
}

export interface InstanceResult {
  id: string;
  status: string;
  is_finished: boolean;
  output: unknown;
  error: unknown;
}

export const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/**
 * Every request may be sent again after its answer was lost: a start without a key gets an
 * `Idempotency-Key`, a signal a request id.
 */
export class Client {
  private readonly base: string;
  private readonly token?: string;
  private readonly timeout: number;
  private readonly patience: number;
  private readonly send: typeof fetch;

  constructor(url: string, options: ClientOptions = {}) {
    this.base = new URL(url).href.replace(/\/$/, '') + '/api/v1';
    this.token = options.token;
    this.timeout = options.timeout ?? 90_000;
    this.patience = options.patience ?? 30_000;
    this.send = options.fetch ?? ((...request) => fetch(...request));
  }

  /** One request without repetition. Throws Problem, or what fetch throws. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<any> {
    const sent: Record<string, string> = { Accept: 'application/json', ...headers };
    if (body !== undefined) sent['Content-Type'] = 'application/json';
    if (this.token) sent['Authorization'] = `Bearer ${this.token}`;
    const { send } = this;
    const response = await send(this.base + path, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(this.timeout),
    });
    const text = await response.text();
    if (response.ok || response.status === 304) return text ? JSON.parse(text) : undefined;
    let document: Record<string, unknown> = {};
    try {
      document = JSON.parse(text);
    } catch {
      // A proxy has answered.
    }
    throw new Problem(response.status, document);
  }

  /** As `request`, but tries again while the server cannot be reached or is busy. */
  async repeat(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<any> {
    const end = Date.now() + this.patience;
    for (let pause = 50; ; pause = Math.min(pause * 2, 2_000)) {
      try {
        return await this.request(method, path, body, headers);
      } catch (error) {
        const isFinal = error instanceof Problem && !error.isTransient;
        if (isFinal || Date.now() + pause > end) throw error;
      }
      await sleep(pause);
    }
  }

  /** Starts an instance and returns its id. */
  async start(workflow: string, input: unknown = null, options: StartOptions = {}): Promise<string> {
    const headers: Record<string, string> = {};
    if (!options.key) headers['Idempotency-Key'] = crypto.randomUUID();
    const answer = await this.repeat('POST', '/instances', { workflow, input, ...options }, headers);
    return answer.id;
  }

  async signal(instance: string, name: string, payload: unknown = null, requestId?: string) {
    const body = { name, payload, request_id: requestId ?? crypto.randomUUID() };
    return this.repeat('POST', `${path(instance)}/signal`, body);
  }

  async cancel(instance: string, reason = '') {
    return this.repeat('POST', `${path(instance)}/cancel`, { reason });
  }

  async show(instance: string) {
    return this.repeat('GET', path(instance));
  }

  /** Waits up to `wait` milliseconds for the end. */
  async result(instance: string, wait = 60_000): Promise<InstanceResult> {
    const end = Date.now() + wait;
    while (true) {
      const rest = Math.max(0, Math.min(30_000, end - Date.now()));
      const answer = await this.repeat('GET', `${path(instance)}/result?wait=${rest}ms`);
      if (answer.is_finished || Date.now() >= end) return answer;
    }
  }
}

const path = (instance: string) => `/instances/${encodeURIComponent(instance)}`;
