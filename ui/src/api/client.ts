// Calls of the API. Every error is a problem document (RFC 9457), or is made to look like one.
import { api } from '../lib/base';
import { ACCEPT, take } from './first';
import type { components } from './schema';

export type Schemas = components['schemas'];
export type Instance = Schemas['Instance'];
export type InstanceDetail = Schemas['InstanceDetail'];
export type InstanceStatus = Schemas['InstanceStatus'];
export type Step = Schemas['Step'];
export type StepStatus = Schemas['StepStatus'];
export type HistoryEvent = Schemas['HistoryEvent'];
export type Layout = Schemas['Layout'];
export type Graph = Schemas['Graph'];
export type Why = Schemas['Why'];
export type FailureGroup = Schemas['FailureGroup'];
export type AwaitedDecision = Schemas['AwaitedDecision'];
export type Workflow = Schemas['Workflow'];
export type WorkflowVersion = Schemas['WorkflowVersion'];
export type Worker = Schemas['Worker'];
export type Unserved = Schemas['Unserved'];
export type Queue = Schemas['Queue'];
export type Stats = Schemas['Stats'];
export type Activity = Schemas['Activity'];
export type Me = Schemas['Me'];
export type Server = Schemas['Server'];
export type Token = Schemas['Token'];
export type Session = Schemas['Session'];
export type Project = Schemas['Project'];
export type Grant = Schemas['Grant'];
export type Webhook = Schemas['Webhook'];
export type Diagnostic = Schemas['Diagnostic'];

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = '',
    readonly requestId = '',
    readonly problems: Diagnostic[] = [],
    readonly body: Partial<Schemas['Problem']> = {},
    /** When the server wants to be asked again, by this browser's clock; 0 = it does not say. */
    readonly retryAt = 0,
  ) {
    super(message);
  }

  /** The server is away or overloaded: the same request may work in a moment. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status === 503 || this.status === 504;
  }
}

export interface Request {
  method?: string;
  body?: unknown;
  /** Of a body that is already text. */
  type?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  accept?: string;
}

export interface Answer<T> {
  data: T;
  etag: string;
  status: number;
}

/** What watches the connection: the banner "the server does not answer". */
export const connection = { onAnswer: () => {}, onSilence: () => {}, onUnauthenticated: () => {}, onForbidden: () => {} };
const RETRY_AFTER_MAX_S = 300;

async function problemOf(response: Response): Promise<Problem> {
  let body: Partial<Schemas['Problem']> = {};
  try {
    body = await response.json();
  } catch {
    // A proxy's page, or nothing.
  }
  const after = Number(response.headers.get('Retry-After') ?? NaN);
  const retryAt = after >= 0 ? Date.now() + 1000 * Math.min(after, RETRY_AFTER_MAX_S) : 0;
  return new Problem(response.status, body.code ?? 'internal', body.detail ?? body.title ?? `${response.status} ${response.statusText}`,
    body.hint, body.request_id ?? response.headers.get('X-Request-Id') ?? '', body.problems, body, retryAt);
}

/** What reading failed with: a call that was given up stays what it is; a connection that broke, in the head or in the
 * body of an answer, is a problem like any other, so that pages meet no other kind of error. */
function broken(error: unknown): unknown {
  if ((error as Error).name === 'AbortError') return error;
  connection.onSilence();
  return new Problem(0, 'unreachable', '');
}

/** @throws Problem, or the AbortError of `request.signal`; nothing else. */
export async function call<T>(path: string, request: Request = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { Accept: request.accept ?? ACCEPT, ...request.headers };
  let body: string | undefined;
  if (request.body !== undefined) {
    headers['Content-Type'] = request.type ?? 'application/json';
    body = request.type ? String(request.body) : JSON.stringify(request.body);
  }
  let response: Response;
  try {
    response = await ((!request.method && take(path)) || fetch(api + path, { method: request.method ?? 'GET', headers, body, signal: request.signal ?? null }));
  } catch (error) {
    throw broken(error);
  }
  if (!response.ok) {
    connection.onAnswer();
    if (response.status === 401) connection.onUnauthenticated();
    if (response.status === 403) connection.onForbidden();
    throw await problemOf(response);
  }
  const is_json = (response.headers.get('Content-Type') ?? '').includes('json');
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw broken(error);
  }
  // Only a whole answer says that the server is there: a retry waits for one.
  connection.onAnswer();
  let data: unknown = response.status === 204 ? undefined : text;
  if (is_json && response.status !== 204) {
    try {
      data = JSON.parse(text);
    } catch (error) {
      throw new Problem(response.status, 'internal', String(error), '', response.headers.get('X-Request-Id') ?? '');
    }
  }
  return { data: data as T, etag: response.headers.get('ETag') ?? '', status: response.status };
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call<T>(path, signal ? { signal } : {})).data;
}

/** A query from what is not empty. */
export function query(values: Record<string, string | number | boolean | undefined | null>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `?${text}` : '';
}

export const path = (...parts: (string | number)[]) => '/' + parts.map((part) => encodeURIComponent(part)).join('/');
