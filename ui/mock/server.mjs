// Answers as `ebb serve` does by the OpenAPI document, from sample data in memory. For working on the UI without Ebb and
// for tests of rare states. Usage: server.mjs --assets DIST [--port N] [--hostile] [--history N] [--role viewer] [--empty]
import { activity } from './activity.mjs';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { accessRoutes, deliveryOf, makeAccess, myGrants } from './access.mjs';
import { bulkRoutes, holds, makeBulks } from './bulk.mjs';
import { layout } from './layout.mjs';
import { play } from './play.mjs';
import { random } from './random.mjs';
import { makeWorld } from './world.mjs';
import { toYaml } from './yaml.mjs';

export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html";
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };
const READ = ['workflows.read', 'instances.read', 'decisions.read', 'workers.read', 'stats.read'];
const PERMISSIONS = {
  viewer: READ,
  approver: [...READ, 'decisions.decide'],
  operator: [...READ, 'payloads.read', 'instances.cancel', 'instances.pause', 'instances.requeue', 'instances.rerun', 'instances.signal', 'instances.write', 'bulk', 'queues.write', 'audit.read'],
  developer: [...READ, 'payloads.read', 'workflows.write', 'instances.start', 'instances.cancel', 'instances.pause', 'instances.requeue', 'instances.rerun', 'instances.signal', 'instances.write', 'bulk', 'hooks.write', 'audit.read'],
  admin: [...READ, 'payloads.read', 'payloads.sensitive', 'instances.start', 'instances.cancel', 'instances.pause', 'instances.requeue', 'instances.rerun', 'instances.signal', 'instances.write', 'instances.move', 'hooks.write', 'workflows.write', 'decisions.decide', 'bulk', 'queues.write', 'retention.write', 'purge', 'audit.read', 'webhooks.write', 'ops', 'admin'],
};

class Problem extends Error {
  constructor(status, code, detail, more = {}, headers = {}) {
    super(detail);
    Object.assign(this, { status, code, more, headers });
  }
}

const source = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
let document;
/** The real one. */
function openapi() {
  const made = (document ??= spawnSync('python3', [source('cmake/openapi.py'), source('schema/openapi')], { encoding: 'utf8', maxBuffer: 1 << 26 }));
  if (made.status !== 0) throw new Error(made.stderr);
  return { $text: made.stdout, $type: 'application/json' };
}

/** Events that a person or program causes. */
const ACTS = new Set(['attributes_written', 'cancel_requested', 'abort_requested', 'paused', 'unpaused', 'requeued', 'decision_made']);

/** The group that the failure of an instance belongs to. */
export const groupOf = ({ workflow, detail: { error } }) => createHash('sha256').update(`${workflow} ${error.step} ${error.code}`).digest('hex').slice(0, 16);

export function startMock({ assets, port = 0, hostile = false, history = 0, role = 'admin', empty = false, base = '/' } = {}) {
  const world = makeWorld({ hostile, history });
  if (empty) Object.assign(world, { instances: [], definitions: [], queues: [], workers: [] });
  const access = makeAccess({ ...world, hostile, empty });
  // What a test does to the server. Answers to the requests `fail` are `problem`, those to `cut` break off in their middle,
  // those to `hold` wait until `release()`; `away` answers nothing at all.
  const control = { fail: null, problem: null, cut: null, hold: null, held: [], role, delay: 0, away: false, requests: [], counting: 0, decision_roles: [], scan: 0, is_dev: false, stuck: 0 };
  const release = () => {
    control.hold = null;
    for (const go of control.held.splice(0)) go();
  };
  const needs = (permission) => {
    if (!PERMISSIONS[control.role].includes(permission)) throw new Problem(403, 'not_allowed', `The role ${control.role} does not have the permission ${permission}.`);
  };
  const drain = () => streams.forEach((stream) => send(stream, 'drain', {}));
  const streams = new Set();
  const summary = ({ detail, steps, history: events, ...row }) => row;
  const counts = (rows) => rows.reduce((sum, row) => ({ ...sum, [row.status]: (sum[row.status] ?? 0) + 1 }), {});
  const find = (id) => {
    const [, workflow, key] = /^key:([^/]+)\/(.*)$/.exec(id) ?? [];
    const found = world.instances.find((one) => (workflow ? one.workflow === workflow && one.key === key : one.id === id || (id.length >= 4 && one.id.startsWith(id))));
    if (!found) throw new Problem(404, 'instance_not_found', `There is no instance ${id}.`);
    return found;
  };
  const definition = (name, version) => {
    const found = world.byName.get(name);
    if (!found || (version && Number(version) > found.version)) throw new Problem(404, 'workflow_not_found', `There is no workflow "${name}"${version ? ` in version ${version}` : ''}.`);
    return version && Number(version) < found.version ? { ...found, version: Number(version), steps: found.steps.slice(0, -1) } : found;
  };
  const checksum = (one) => `${one.workflow}-${one.version}`;
  const registered = (one) => {
    const rows = world.instances.filter((row) => row.workflow === one.workflow);
    return {
      name: one.workflow, version: one.version, checksum: checksum(one), created_at: new Date(world.now - (60 - 4 * one.version) * 864e5).toISOString(),
      instances: counts(rows.filter((row) => row.version === one.version)), instances_of_all_versions: counts(rows),
    };
  };

  function list(query) {
    const counted = ['limit', 'outline', 'count', 'status', 'workflow', 'sort'];
    if (query.get('count') === 'exact' && [...query.keys()].some((name) => !counted.includes(name))) throw new Problem(400, 'invalid_argument', 'count=exact may only be combined with status and workflow.');
    const statuses = (query.get('status') ?? '').split(',').filter(Boolean);
    const rows = (query.get('workflow')?.startsWith('ebb:') ? access.deliveries : world.instances).filter((row) =>
      (!statuses.length || statuses.includes(row.status)) && (!query.get('workflow') || row.workflow === query.get('workflow')) &&
      (!query.get('version') || row.version === Number(query.get('version'))) && (!query.get('key') || row.key === query.get('key')) &&
      (!query.get('key_prefix') || row.key?.startsWith(query.get('key_prefix'))) &&
      (!query.get('where') || holds(query.get('where'), row, { Problem, groupOf })) &&
      (!query.get('created_after') || row.created_at >= query.get('created_after')) && (!query.get('created_before') || row.created_at < query.get('created_before')));
    const is_oldest_first = query.get('sort') === 'created';
    if (is_oldest_first) rows.reverse();
    const limit = Number(query.get('limit') ?? 50);
    const last_seen = query.get('cursor') ? Buffer.from(query.get('cursor'), 'base64url').toString() : query.get(is_oldest_first ? 'after' : 'before');
    const isBeyond = (row) => (is_oldest_first ? row.id > last_seen : row.id < last_seen);
    const more = (id) => ({ next_cursor: id ? Buffer.from(id).toString('base64url') : null, next_before: is_oldest_first ? null : (id ?? null), next_after: is_oldest_first ? (id ?? null) : null });
    // As of a filter that no index serves: so many rows are looked through for one request.
    if (control.scan) {
      const all = is_oldest_first ? [...world.instances].reverse() : world.instances;
      const begin = last_seen ? all.findIndex(isBeyond) : 0;
      const read = begin < 0 ? [] : all.slice(begin, begin + control.scan);
      const last = read.at(-1);
      const is_end = begin < 0 || begin + control.scan >= all.length;
      return { items: read.filter((row) => rows.includes(row)).map(summary), ...more(is_end ? null : last.id), scanned_to: last?.created_at ?? null, complete: is_end, total: null };
    }
    const from = last_seen ? rows.findIndex(isBeyond) : 0;
    const items = from < 0 ? [] : rows.slice(from, from + limit);
    const is_last = from < 0 || from + limit >= rows.length;
    const shown = query.get('outline') === 'true' ? (row) => ({ ...summary(row), error: row.detail.error, waiting_for: row.detail.waiting_for, handlers: [] }) : summary;
    return { items: items.map(shown), ...more(is_last ? null : items[items.length - 1].id), scanned_to: null, complete: true, total: query.get('count') === 'exact' ? rows.length : null };
  }

  /** As the rows that the server keeps of each failure, the newest first. */
  function failures(query) {
    const statuses = query.get('status')?.split(',') ?? ['failed', 'dead_letter'];
    const rows = world.instances.filter((row) => statuses.includes(row.status) && row.detail.error && (!query.get('workflow') || row.workflow === query.get('workflow')));
    const failed = rows.map((row) => {
      const { step, code, message } = row.detail.error;
      const group = groupOf(row);
      return { instance: row.id, workflow: row.workflow, version: row.version, key: row.key, status: row.status, step: step ?? null, code, message, group, event: row.history.length, at: row.updated_at };
    });
    return failed.sort((a, b) => (a.at < b.at ? 1 : -1));
  }

  function groups(query) {
    const found = new Map();
    for (const one of failures(query)) found.set(one.group, [...(found.get(one.group) ?? []), one]);
    const items = [...found.values()].map((rows) => {
      const [{ group, workflow, step, code, message }] = rows;
      return { group, workflow, step, code, message, count: rows.length, is_counted: true, first_at: rows.at(-1).at, last_at: rows[0].at, versions: [...new Set(rows.map((row) => row.version))], statuses: counts(rows), sample_ids: rows.slice(0, 5).map((row) => row.instance) };
    });
    return { items: items.sort((a, b) => b.count - a.count), complete: true, scanned_to: null };
  }

  function failuresOf(group, query) {
    const rows = failures(query).filter((one) => one.group === group);
    const [from, limit] = [Number(query.get('cursor') || 0), Number(query.get('limit') ?? 50)];
    return { items: rows.slice(from, from + limit), next_cursor: from + limit < rows.length ? String(from + limit) : null, complete: true };
  }

  const decisions = () => world.instances.flatMap((row) => row.detail.waiting_for.filter((wait) => wait.kind === 'decision' && row.status === 'running').map((wait) => ({
    instance: row.id, workflow: row.workflow, version: row.version, key: row.key, node: wait.node, visit: 2, roles: wait.what ? wait.what.split(', ') : [], quorum: wait.node === 'finance' ? 2 : 1, confirmed: wait.node === 'finance' ? 1 : 0,
    since: row.updated_at, deadline: wait.until, sentence: wait.sentence,
  }))).sort((a, b) => (a.instance < b.instance ? -1 : 1));

  function why(row) {
    const wait = row.detail.waiting_for[0];
    const error = row.detail.error;
    const href = (verb) => `/api/v1/instances/${row.id}/${verb}`;
    const unblock = [];
    const add = (operation, title, verb, body = {}) => unblock.push({ operation, title, method: 'POST', href: href(verb), body });
    let text = wait?.sentence ?? (row.status === 'completed' ? 'The instance completed.' : `The instance is ${row.status}.`);
    if (row.status === 'dead_letter') {
      text = `The instance is dead-lettered because step "${error.step}" failed for good after ${row.steps.find((step) => step.node === error.step)?.attempts ?? 1} attempts with ${error.code}: ${error.message}. ${text}`;
      add('requeueInstance', `Retry from "${error.step}"`, 'requeue');
      add('cancelInstance', 'Cancel it and undo what was done', 'cancel');
    } else if (row.status === 'failed') text = `The instance failed because step "${error.step}" failed for good with ${error.code}: ${error.message}.`;
    else if (row.status === 'paused') add('resumeInstance', 'Let it continue', 'resume');
    else for (const { kind, node, what } of row.detail.waiting_for) {
      if (kind === 'decision') {
        add('decideInstance', `Confirm the decision at "${node}"`, 'decide', { verdict: 'confirm', node });
        add('decideInstance', `Reject the decision at "${node}"`, 'decide', { verdict: 'reject', node });
      } else if (kind === 'signal') add('signalInstance', `Send the signal "${what}"`, 'signal', { name: what, payload: null });
    }
    return { id: row.id, why: text, waiting_for: row.detail.waiting_for, unblock };
  }

  function stepStats(one) {
    const rows = world.instances.filter((row) => row.workflow === one.workflow && row.version === one.version).slice(0, 200);
    const nodes = new Map();
    for (const step of rows.flatMap((row) => row.steps)) nodes.set(step.node, [...(nodes.get(step.node) ?? []), step]);
    const at = (values, part) => values[Math.floor(part * (values.length - 1) + 0.5)] ?? null;
    const items = [...nodes].map(([node, steps]) => {
      const seconds = steps.filter((step) => step.status === 'completed' && step.started_at).map((step) => (Date.parse(step.finished_at) - Date.parse(step.started_at)) / 1000).sort((a, b) => a - b);
      const count = (...statuses) => steps.filter((step) => statuses.includes(step.status)).length;
      return {
        node, kind: steps[0].kind, visits: steps.length, attempts: steps.reduce((sum, step) => sum + step.attempts, 0), retried: steps.filter((step) => step.attempts > 1).length, failed: count('failed', 'compensation_failed'), compensated: count('compensated'),
        open: count('pending', 'running', 'retrying', 'waiting'), p50_seconds: at(seconds, 0.5), p95_seconds: at(seconds, 0.95), wait_p95_seconds: steps[0].kind === 'step' ? 0.04 : null,
      };
    });
    return { workflow: one.workflow, version: one.version, instances: rows.length, left_out: 0, complete: true, since: rows.at(-1)?.created_at ?? null, items };
  }

  function related(row) {
    const bulks = row.history.filter((event) => / \(bulk [0-9a-f-]{36}\)$/.test(event.payload?.by ?? '')).reverse();
    const sent = access.deliveries.filter((one) => one.key.split('/')[1] === row.id);
    return {
      id: row.id, started_by: row.history[0]?.worker ?? null, same_key: row.key ? world.instances.filter((one) => one.key === row.key && one.workflow !== row.workflow).slice(0, 20).map(summary) : [],
      rerun_of: row.labels?.['ebb.rerun_of'] ?? null, reruns: world.instances.filter((one) => one.labels?.['ebb.rerun_of'] === row.id).slice(0, 20).map(summary),
      failure_group: ['failed', 'dead_letter'].includes(row.status) && row.detail.error ? groupOf(row) : null,
      bulks: bulks.slice(0, 20).map((event) => ({ id: /bulk ([0-9a-f-]{36})/.exec(event.payload.by)[1], event: event.seq, type: event.type, by: event.payload.by, at: event.at })),
      deliveries: PERMISSIONS[control.role].includes('webhooks.write') ? { complete: true, items: sent.map((one) => ({ ...deliveryOf(one), webhook: one.key.split('/')[0] })) } : null,
    };
  }

  function history_of(row, query) {
    const types = (query.get('type') ?? '').split(',').filter(Boolean);
    const limit = Number(query.get('limit') ?? 200);
    let events = row.history.filter((event) => event.seq > Number(query.get('after') ?? 0) && event.seq < Number(query.get('before') ?? Infinity) && (!types.length || types.includes(event.type)) && (!query.get('node') || event.node === query.get('node')));
    if (query.get('order') === 'backward') events = events.reverse();
    return { items: events.slice(0, limit), complete: events.length <= limit };
  }

  function marks(row) {
    const found = {};
    for (const step of row.steps) found[step.node] = { status: step.status, attempts: step.attempts, note: step.error?.code ?? null };
    return { workflow: row.workflow, version: row.version, revision: row.revision, status: row.status, marks: found };
  }

  const stats = () => ({ instances: counts(world.instances), workflows: world.definitions.length, workers: { alive: world.workers.filter((one) => one.is_alive && !one.is_draining).length, draining: world.workers.filter((one) => one.is_draining).length, dead: world.workers.filter((one) => !one.is_alive).length }, unserved: unserved().reduce((sum, one) => sum + one.tasks, 0), server: { requests: control.requests.length, stuck_handlers: control.stuck } });
  const unserved = () => {
    const tasks = world.instances.filter((row) => row.detail.waiting_for.some((wait) => wait.kind === 'worker')).length;
    return tasks ? [{ handler: 'ship_abroad', queue: 'carriers', tasks }] : [];
  };

  /** Tasks that do not start, by world.delayed: what a test adds, and those without a worker. */
  const delayed = () => ({
    items: [...unserved().map((one) => ({ ...one, workflow: 'order', since: new Date(world.now - 22 * 60_000).toISOString(), reason: 'no_worker', instance: world.instances[0].id })), ...world.delayed],
    complete: true,
  });

  function touch(row, type, status, more = {}) {
    const at = new Date().toISOString().replace('Z', '000Z');
    row.history.push({ seq: row.history.length + 1, at, type, node: null, path: null, visit: 0, attempt: 0, ref: 0, payload: null, worker: 'user:ann', started_at: null, ...more });
    Object.assign(row, { status, revision: row.revision + 1, updated_at: at });
    if (['cancelled', 'aborted', 'completed'].includes(status)) {
      row.finished_at = at;
      row.detail.waiting_for = [];
    }
    publish(row);
  }

  function steer(row, verb, body, request) {
    const wanted = request.headers['if-match'];
    if (wanted && wanted !== `"${row.revision}"`) throw new Problem(412, 'precondition_failed', `The instance has revision ${row.revision} meanwhile.`, { revision: row.revision, instance_status: row.status, newest_events: row.history.slice(-5).reverse().map((event) => ({ ...event, payload: null, by: ACTS.has(event.type) ? (event.payload?.by ?? event.worker) : null })) });
    const is_over = ['completed', 'failed', 'cancelled', 'aborted'].includes(row.status);
    if (is_over) throw new Problem(409, 'invalid_state', `The instance ${row.id} is ${row.status}; nothing can be changed any more.`);
    if (verb === 'cancel') touch(row, 'cancel_requested', 'cancelled', { payload: body });
    else if (verb === 'abort') touch(row, 'abort_requested', 'aborted', { payload: body });
    else if (verb === 'pause') touch(row, 'paused', 'paused', { payload: body });
    else if (verb === 'resume') touch(row, 'unpaused', 'running');
    else if (verb === 'requeue') {
      row.detail.waiting_for = [];
      for (const step of row.steps) if (step.status === 'failed') Object.assign(step, { status: 'running', error: null });
      touch(row, 'requeued', 'running', { payload: body });
    } else if (verb === 'decide') {
      row.detail.waiting_for = row.detail.waiting_for.filter((wait) => wait.kind !== 'decision');
      for (const step of row.steps) if (step.status === 'waiting') step.status = 'completed';
      touch(row, 'decision_made', 'running', { node: body.node ?? null, payload: body });
    } else if (verb === 'write') {
      if (!row.detail.attributes) throw new Problem(409, 'invalid_state', `The workflow of the instance ${row.id} has no rules.`);
      if (typeof body.values !== 'object' || body.values === null) throw new Problem(400, 'invalid_argument', 'The member "values" is not an object of attributes.');
      const unknown = Object.keys(body.values).find((name) => !Object.hasOwn(row.detail.attributes, name));
      if (unknown) throw new Problem(422, 'invalid_payload', `The workflow has no attribute "${unknown}".`);
      const was = Object.fromEntries(Object.keys(body.values).map((name) => [name, row.detail.attributes[name]]));
      row.detail.attributes = { ...row.detail.attributes, ...body.values };
      touch(row, 'attributes_written', 'running', { payload: { values: body.values, was, by: 'user:ann' } });
    } else if (verb === 'recover') {
      const written = row.history.filter((event) => event.type === 'attributes_written' && event.seq > body.to);
      if (!row.history.some((event) => event.seq === body.to && ['started', 'attributes_written'].includes(event.type))) throw new Problem(400, 'invalid_argument', `Event ${body.to} is neither the start nor a write.`);
      for (const event of written.reverse()) row.detail.attributes = { ...row.detail.attributes, ...event.payload.was };
      touch(row, 'recover_requested', 'running', { payload: { to: body.to, then: body.then ?? 'rematch', by: 'user:ann' } });
    } else if (verb === 'signal') touch(row, 'signal_received', 'running', { payload: body.payload });
    return summary(row);
  }

  /** The picture is that of the registered workflow: the mock does not read YAML. A line with "stp:" is a mistake. */
  function validate(text) {
    const wrong = text.split('\n').findIndex((line) => line.includes('stp:'));
    const known = world.byName.get(/^workflow:\s*(\S+)/m.exec(text)?.[1]) ?? { workflow: 'hello', version: 1, steps: [{ step: 'greet' }] };
    if (!text.includes('steps:')) return { valid: false, problems: [{ code: 'missing_key', pointer: '/steps', message: 'A workflow needs "steps".', line: 1, column: 1 }], definition: null, layout: null };
    if (wrong >= 0) return { valid: false, problems: [{ code: 'unknown_key', pointer: '/steps', message: 'There is no key "stp"; did you mean "step"?', line: wrong + 1, column: 1 }], definition: null, layout: layout(known) };
    return { valid: true, problems: [], definition: null, layout: layout(known) };
  }

  /** Plays the registered workflow, as `validate` draws it. */
  function rehearse({ definition, input = {}, outcomes = {}, compensations = {} }) {
    const known = world.byName.get(/^workflow:\s*(\S+)/m.exec(definition)?.[1]) ?? { workflow: 'hello', version: 1, steps: [{ step: 'greet' }] };
    const script = { fail: {}, slow: 900, deadline: 48 * 36e5 };
    for (const [node, { outcome, code = 'error', message = 'scripted failure' }] of Object.entries(outcomes)) {
      if (outcome === 'never') script.stop = node;
      else if (outcome !== 'complete') script.fail[node] = { code, message, permanent: outcome === 'fail_for_good' };
    }
    for (const [node, { outcome }] of Object.entries(compensations)) if (outcome !== 'complete') script.stuck = node;
    const began = Date.UTC(2030, 0, 15);
    const played = play({ ...known, on_error: 'compensate' }, { id: 'rehearsal', key: null, input, start: began, script, r: random(7), worker: null, now: began + 864e5 });
    const undone = new Set(played.history.filter((event) => event.type === 'step_compensated').map((event) => event.ref));
    const left = played.status === 'completed' ? [] : played.history.filter((event) => event.type === 'step_completed' && !undone.has(event.seq)).map((event) => event.node);
    return { status: played.status, output: played.detail.output, error: played.detail.error, took: '5s', is_cut: false, left, waiting_for: played.status === 'running' ? played.detail.waiting_for : [], events: played.history };
  }

  function start(body) {
    const one = definition(body.workflow, body.version);
    if (one.workflow === 'order' && typeof body.input?.order !== 'string') {
      throw new Problem(422, 'invalid_payload', 'The input does not fit the schema of "order".', { problems: [{ code: 'required', pointer: '/order', message: 'This field is required.', line: null, column: null }] });
    }
    const row = world.add(one.workflow, Date.now() - 50, { stop: 'charge' });
    if (body.key) row.key = body.key;
    row.detail.input = body.input;
    world.instances.sort((a, b) => (a.id < b.id ? 1 : -1));
    publish(row);
    return row;
  }

  /** The newest version with the old input: another one is other work. A key that exists leads to its instance. */
  function rerun(old, body) {
    needs('instances.rerun');
    if ('input' in body || 'version' in body) needs('instances.start');
    const known = body.key && world.instances.find((one) => one.workflow === old.workflow && one.key === body.key);
    if (known) return { $status: 200, id: known.id, is_new: false, has_same_input: true, has_same_version: true };
    const row = start({ workflow: old.workflow, input: old.detail.input, ...body });
    Object.assign(row, { labels: { ...old.labels, 'ebb.rerun_of': old.id }, priority: old.priority });
    return { $status: 201, id: row.id, is_new: true };
  }

  // --- streams

  const send = (stream, event, data, id) => stream.response.write(`event: ${event}\n${id ? `id: ${id}\n` : ''}data: ${JSON.stringify(data)}\n\n`);
  // A stream begins as the server's does: each topic sends what has happened since its position, or its state.
  function begin(stream) {
    send(stream, 'hello', { server_time: new Date().toISOString(), topics: stream.topics.map((topic) => ({ topic, is_accepted: true })) });
    stream.topics.forEach((topic, i) => {
      const row = topic.startsWith('instance:') ? world.instances.find((one) => one.id === topic.slice('instance:'.length)) : undefined;
      update(stream, topic, i, row);
    });
  }
  function update(stream, topic, i, row) {
    if (topic.startsWith('list:')) send(stream, 'list', { topic: i, items: list(new URLSearchParams(topic.slice(5))).items });
    else if (!topic.startsWith('instance:')) send(stream, 'changed', { topic: i });
    else if (row && topic === `instance:${row.id}`) {
      const events = row.history.filter((event) => event.seq > (stream.positions[i] ?? 0));
      stream.positions[i] = row.history.length;
      if (events.length) send(stream, 'history', { topic: i, instance: row.id, events });
      send(stream, row.finished_at ? 'end' : 'instance', { topic: i, instance: summary(row) });
    }
  }
  function publish(row) {
    for (const stream of streams) stream.topics.forEach((topic, i) => update(stream, topic, i, row));
  }

  const changed = (...topics) => streams.forEach((stream) => stream.topics.forEach((topic, i) => topics.includes(topic) && update(stream, topic, i)));

  // Those who wait for something to be true of the mock are asked again whenever anything has happened to it.
  const waiters = new Set();
  const wake = () => waiters.forEach((waiter) => waiter());
  const until = (test) => new Promise((resolve) => {
    const waiter = () => {
      if (!test()) return;
      waiters.delete(waiter);
      resolve();
    };
    waiters.add(waiter);
    waiter();
  });

  // --- routes

  const routes = [
    ['GET', /^\/$/, () => ({ name: 'ebb', version: '0.1.0', api: 'v1', time: new Date().toISOString(), store: 'memory', is_dev: control.is_dev, worker: { id: 'mock', is_enabled: true }, auth: { mode: 'token' }, ui: { title: null, banner: null, links: [{ name: 'Logs', url: 'https://logs.example/search?q=${instance.id}' }, { name: 'Trace', url: 'https://traces.example/trace/${instance.trace_id}' }] }, capabilities: ['events'], limits: { payload: 1048576 } })],
    ['GET', /^\/openapi\.json$/, openapi],
    ['GET', /^\/me$/, () => ({ principal: 'user:ann', display_name: 'ann', kind: 'session', role: control.role, decision_roles: control.decision_roles, permissions: PERMISSIONS[control.role], groups: [], grants: myGrants(control.role), expires_at: null })],
    ['GET', /^\/stats$/, stats],
    ['GET', /^\/stats\/activity$/, (_, query) => activity(world, query, control)],
    ['GET', /^\/instances$/, (_, query) => list(query)],
    ['POST', /^\/instances$/, (_, __, body) => ({ $status: 201, id: start(body).id, is_new: true })],
    ['GET', /^\/instances\/([^/]+)$/, ([id]) => {
      const row = find(id);
      return { $etag: `"${row.revision}"`, ...summary(row), ...row.detail, steps: counts(row.steps) };
    }],
    ['GET', /^\/instances\/([^/]+)\/steps$/, ([id], query) => {
      const row = find(id);
      const items = row.steps.filter((step) => (!query.get('node') || step.node === query.get('node')) && (!query.get('status') || step.status === query.get('status')));
      return { items, next_cursor: null };
    }],
    ['GET', /^\/instances\/([^/]+)\/history$/, ([id], query) => history_of(find(id), query)],
    ['GET', /^\/instances\/([^/]+)\/graph$/, ([id]) => marks(find(id))],
    ['GET', /^\/instances\/([^/]+)\/why$/, ([id]) => why(find(id))],
    ['GET', /^\/instances\/([^/]+)\/related$/, ([id]) => related(find(id))],
    ['POST', /^\/instances\/([^/]+)\/export$/, ([id]) => {
      const row = find(id);
      if (row.status !== 'moved') touch(row, 'moved', 'moved');
      return { workflow: { name: row.workflow, version: row.version }, id: row.id };
    }],
    ['POST', /^\/instances\/([^/]+)\/(cancel|abort|pause|resume|requeue|decide|signal|write|recover)$/, ([id, verb], _, body, request) => steer(find(id), verb, body ?? {}, request)],
    ['POST', /^\/instances\/([^/]+)\/rerun$/, ([id], _, body) => rerun(find(id), body ?? {})],
    ['GET', /^\/decisions$/, (_, query) => {
      const items = decisions().filter((one) => (!query.get('role') || one.roles.includes(query.get('role'))) && (!query.get('workflow') || one.workflow === query.get('workflow')));
      return { items: items.slice(0, Number(query.get('limit') ?? 50)), next_cursor: null, complete: true };
    }],
    ['GET', /^\/failures\/groups$/, (_, query) => groups(query)],
    ['GET', /^\/failures\/([^/]+)$/, ([group], query) => failuresOf(group, query)],
    ['GET', /^\/workflows$/, () => ({ items: world.definitions.map((one) => ({ ...registered(one), versions: one.version })).sort((a, b) => (a.name < b.name ? -1 : 1)), next_cursor: null })],
    ['POST', /^\/workflows\/validate$/, (_, __, body) => validate(String(body ?? ''))],
    ['POST', /^\/workflows\/evaluate$/, (_, __, { texts, input }) => {
      const value = (source) => {
        try {
          // The expressions of the tests are JavaScript, too.
          return { value: Function('input', 'workflow', `return (${source})`)(input, { input }) };
        } catch (error) {
          return { error: error.message, unknown: false };
        }
      };
      const sources = texts.flatMap((text, i) => (text.includes('${') ? [...text.matchAll(/\$\{([^}]*)\}/g)].map((found) => [i, found[1]]) : [[i, text]]));
      return { results: sources.map(([text, expression]) => ({ text, expression, values: [{ sample: '', ...value(expression) }] })) };
    }],
    ['POST', /^\/workflows\/rehearse$/, (_, __, body) => rehearse(body)],
    ['GET', /^\/workflows\/([^/]+)$/, ([name], _, __, request) => version_of(definition(name), request)],
    ['GET', /^\/workflows\/([^/]+)\/versions$/, ([name]) => {
      const one = definition(name);
      return { items: Array.from({ length: Math.min(one.version, 5) }, (_, i) => registered({ ...one, version: one.version - i })) };
    }],
    ['GET', /^\/workflows\/([^/]+)\/versions\/(\d+)$/, ([name, version], _, __, request) => version_of(definition(name, version), request)],
    ['GET', /^\/workflows\/([^/]+)\/versions\/(\d+)\/layout$/, ([name, version]) => layout(definition(name, version))],
    ['GET', /^\/workflows\/([^/]+)\/versions\/(\d+)\/steps$/, ([name, version]) => {
      needs('stats.read');
      return stepStats(definition(name, version));
    }],
    ['GET', /^\/retention$/, () => ({ items: Object.values(world.retention) })],
    ['PUT', /^\/workflows\/([^/]+)\/retention$/, ([name], _, body) => {
      needs('retention.write');
      for (const [member, value] of Object.entries(body)) if (!/^(forever|\d+[smhd])$/.test(value)) throw new Problem(400, 'invalid_argument', `The member "${member}" is not a duration such as 30d, or forever.`);
      return (world.retention[name] = { workflow: name, completed: 'forever', failed: 'forever', ...body, updated_at: new Date().toISOString(), partitioned_by: null });
    }],
    ['DELETE', /^\/workflows\/([^/]+)\/retention$/, ([name]) => {
      needs('retention.write');
      delete world.retention[name];
      return null;
    }],
    ['GET', /^\/workers$/, () => ({ items: world.workers })],
    ['GET', /^\/unserved$/, () => ({ items: unserved() })],
    ['GET', /^\/delayed$/, () => delayed()],
    ['GET', /^\/queues$/, () => ({ items: world.queues })],
    ['PUT', /^\/queues\/([^/]+)$/, ([name], _, body) => {
      const queue = world.queues.find((one) => one.name === name);
      if (!queue) throw new Problem(404, 'not_found', `There is no queue "${name}".`);
      return Object.assign(queue, { concurrency: null, concurrency_per_key: null, rate: null }, body, { updated_at: new Date().toISOString() });
    }],
    ...accessRoutes(access, { Problem, needs }),
    ...bulkRoutes(world, makeBulks(world, { empty }), { Problem, needs, touch, summary, groupOf, changed }),
    ['DELETE', /^\/session$/, () => null],
    ['GET', /^\/search$/, (_, query) => {
      const q = query.get('q').toLowerCase();
      const rows = world.instances.filter((row) => row.id.startsWith(q) || row.key === query.get('q')).slice(0, 10);
      return { items: [...world.definitions.filter((one) => one.workflow.includes(q)).map((one) => ({ kind: 'workflow', title: one.workflow, workflow: one.workflow })), ...rows.map((row) => ({ kind: 'instance', title: row.key ?? row.id, instance: summary(row) }))] };
    }],
  ];
  function version_of(one, request) {
    if ((request.headers.accept ?? '').includes('yaml')) return { $text: toYaml(one), $type: 'application/yaml' };
    return { ...registered(one), definition: one };
  }

  function openStream(url, response) {
    const topics = url.searchParams.getAll('topic');
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const stream = { response, topics: topics.map((topic) => topic.replace(/@\d+$/, '')), positions: topics.map((topic) => Number(/@(\d+)$/.exec(topic)?.[1] ?? 0)) };
    streams.add(stream);
    response.on('close', () => {
      streams.delete(stream);
      wake();
    });
    begin(stream);
    wake();
  }

  async function answerApi(request, response, url) {
    const path = url.pathname.slice(base.length + 'api/v1'.length) || '/';
    control.requests.push(`${request.method} ${path}${url.search}`);
    wake();
    if (control.hold?.test(`${request.method} ${path}`)) {
      await new Promise((go) => {
        control.held.push(go);
        wake();
      });
    }
    if (control.delay) await new Promise((done) => setTimeout(done, control.delay));
    try {
      if (control.fail?.test(`${request.method} ${path}`)) throw control.problem ?? new Problem(500, 'internal', 'Something went wrong in the server.');
      if (path === '/events') return openStream(url, response);
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const body = text && (request.headers['content-type'] ?? '').includes('json') ? JSON.parse(text) : text || undefined;
      for (const [method, pattern, handler] of routes) {
        const match = request.method === method && pattern.exec(path);
        if (!match) continue;
        const found = handler(match.slice(1).map(decodeURIComponent), url.searchParams, body, request);
        if (found === null) return response.writeHead(204).end();
        const { $status = 200, $etag, $text, $type = 'application/json', ...data } = found;
        const bytes = Buffer.from($text ?? JSON.stringify(data));
        response.writeHead($status, { 'Content-Type': $type, 'Content-Length': bytes.length, 'Cache-Control': 'no-store', ...($etag && { ETag: $etag }) });
        if (!control.cut?.test(`${request.method} ${path}`)) return response.end(bytes);
        return response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
      }
      throw new Problem(404, 'not_found', `There is nothing at ${path}.`);
    } catch (error) {
      const status = error.status ?? 500;
      response.writeHead(status, { 'Content-Type': 'application/problem+json', ...error.headers });
      response.end(JSON.stringify({ type: `/problems/${error.code}`, title: error.code, status, code: error.code ?? 'internal', detail: error.message, request_id: '019e2b6c-5a11-7000-8000-000000000001', ...error.more }));
    }
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    if (control.away) return request.socket.destroy();
    response.setHeader('Content-Security-Policy', CSP);
    if (url.pathname.startsWith(`${base}api/v1`)) return void answerApi(request, response, url);
    if (!url.pathname.startsWith(base)) return response.writeHead(404).end();
    const path = normalize('/' + url.pathname.slice(base.length));
    try {
      const file = extname(path) ? path : '/index.html';
      let bytes = readFileSync(join(assets, file));
      if (file === '/index.html') bytes = bytes.toString().replaceAll('"./', `"${base}`);
      response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Cache-Control': file.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache' }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });

  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      const address = `http://127.0.0.1:${server.address().port}${base}`;
      const close = () => new Promise((done) => {
        for (const stream of streams) stream.response.end();
        server.closeAllConnections();
        server.close(done);
      });
      resolve({ address, world, access, control, Problem, release, drain, touch, publish, until, streams, close });
    });
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  const value = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const mock = await startMock({ assets: value('--assets') ?? 'dist', port: Number(value('--port') ?? 8700), hostile: args.includes('--hostile'), empty: args.includes('--empty'), history: Number(value('--history') ?? 0), role: value('--role') ?? 'admin' });
  console.log(`-- sample data at ${mock.address} (Ctrl-C stops it)`);
}
