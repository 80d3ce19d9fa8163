// Bulk operations of the mock server: some that ran, and those that a test starts. A filter is what the UI writes:
// comparisons that are joined by &&.

const ACTIONS = { cancel: 'instances.cancel', abort: 'instances.cancel', pause: 'instances.pause', resume: 'instances.pause', requeue: 'instances.requeue', rerun: 'instances.rerun' };
const DONE = { cancel: 'cancelled', abort: 'aborted', pause: 'paused', resume: 'running', requeue: 'running' };
const FITS = { requeue: ['dead_letter'], rerun: ['failed', 'cancelled', 'aborted'], cancel: ['running', 'paused', 'dead_letter'], abort: ['running', 'paused', 'dead_letter', 'compensating'], pause: ['running', 'compensating'], resume: ['paused'] };

function valueOf(text, Problem) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(400, 'invalid_expression', `Line 1: ${text} is not a value.`, { line: 1, column: 1 });
  }
}

/** Whether the filter holds for a row. */
export function holds(where, row, { Problem, groupOf }) {
  if (where === 'true') return true;
  return where.split(' && ').every((part) => {
    const found = /^([\w.]+?)(?:\.startsWith\((?<start>.*)\)| (?<op>==|in|>=|<) (?<rest>.*))$/.exec(part);
    if (!found) throw new Problem(400, 'invalid_expression', `Line 1: "${part}" is not a comparison.`, { line: 1, column: 1 });
    const { start, op, rest } = found.groups;
    const name = found[1];
    const value = valueOf((start ?? rest).replace(/^timestamp\((.*)\)$/, '$1'), Problem);
    const own = name === 'error.group' ? (row.detail.error ? groupOf(row) : '') : name === 'error.step' || name === 'error.code' ? row.detail.error?.[name.slice(6)] : name.startsWith('labels.') ? row.labels?.[name.slice(7)] : name === 'created' ? row.created_at : (row[name] ?? '');
    if (op === '==') return own === value;
    if (op === 'in') return value.includes(own);
    if (op === '>=') return own >= value;
    return op === '<' ? own < value : String(own).startsWith(value);
  });
}

export function makeBulks(world, { empty = false } = {}) {
  if (empty) return [];
  const now = Date.now();
  const at = (minutes) => new Date(now - minutes * 60_000).toISOString();
  const some = world.instances.slice(0, 3);
  const one = (number, more) => ({ id: `019e2b6c-5a10-7c3e-9f00-0000000000${number}`, status: 'completed', action: 'requeue', where: 'status == "dead_letter"', ids: null, reason: null, by: 'user:ann', rate: null, canary: null, matched: 0, done: 0, unchanged: 0, skipped: 0, failed: 0, skips: [], per_second: null, error: null, created_at: at(9), updated_at: at(0), finished_at: null, ...more });
  return [
    one(14, { status: 'running', where: 'error.code == "card_declined" && status == "dead_letter"', rate: '100/1s', matched: 12_480, done: 7_690, skipped: 12, per_second: 96.4, created_at: at(2), skips: some.map((row) => ({ id: row.id, key: null, code: 'invalid_state', message: 'The instance has already completed, so it can no longer be requeued.' })) }),
    one(13, { status: 'canary_failed', where: 'error.step == "ship"', canary: { count: 1, wait: '60s' }, matched: 37, done: 1, created_at: at(14) }),
    one(12, { action: 'pause', where: 'workflow == "order" && status == "running"', reason: 'The bank is down.', by: 'user:ben', matched: 812, done: 806, unchanged: 2, skipped: 4, per_second: 412.7, created_at: at(190), finished_at: at(188), skips: some.slice(1).map((row) => ({ id: row.id, key: null, code: 'invalid_state', message: 'The instance is dead-lettered: there is nothing to pause.' })) }),
    one(11, { status: 'cancelled', action: 'abort', where: null, ids: 240, reason: 'Test data.', matched: 240, done: 96, created_at: at(2_000), finished_at: at(1_998) }),
  ];
}

export function bulkRoutes(world, bulks, { Problem, needs, touch, summary, groupOf, changed }) {
  const find = (id) => {
    const found = bulks.find((one) => one.id === id);
    if (!found) throw new Problem(404, 'instance_not_found', 'There is no such bulk operation.');
    return found;
  };
  const post = (body) => {
    needs('bulk');
    if (!ACTIONS[body?.action]) throw new Problem(400, 'invalid_argument', 'The member "action" is not one of cancel, abort, pause, resume, requeue, rerun.');
    needs(ACTIONS[body.action]);
    const rows = world.instances.filter((row) => (body.ids ? body.ids.includes(row.id) : holds(body.where, row, { Problem, groupOf })));
    if (body.dry_run) {
      const counts = Object.entries(Object.groupBy?.(rows, (row) => row.status) ?? rows.reduce((all, row) => ({ ...all, [row.status]: [...(all[row.status] ?? []), row] }), {})).map(([status, list]) => ({ status, count: list.length }));
      return { $status: 200, matched: rows.length, complete: true, counts, samples: rows.slice(0, 20).map(summary) };
    }
    if (body.action === 'abort' && body.confirm !== rows.length) throw new Problem(412, 'precondition_failed', `The request confirms ${body.confirm} instances, and ${rows.length} match.`, { matched: rows.length });
    const able = rows.filter((row) => FITS[body.action].includes(row.status));
    const others = rows.filter((row) => !FITS[body.action].includes(row.status));
    // A rerun changes nothing of the old instance.
    for (const row of body.action === 'rerun' ? [] : able) touch(row, body.action === 'requeue' ? 'requeued' : body.action, DONE[body.action], { payload: { by: 'user:ann' } });
    const now = new Date().toISOString();
    const skips = others.slice(0, 20).map((row) => ({ id: row.id, key: null, code: 'invalid_state', message: `The instance is already ${row.status}.` }));
    const made = { id: `019e2b6c-5a10-7c3e-9f00-1000000000${10 + bulks.length}`, status: 'completed', action: body.action, where: body.where ?? null, ids: body.ids?.length ?? null, reason: body.reason ?? null, by: 'user:ann', rate: body.rate ?? null, canary: body.canary ? { count: 1, wait: '60s', ...body.canary } : null, matched: rows.length, done: able.length, unchanged: 0, skipped: others.length, failed: 0, skips, per_second: null, error: null, created_at: now, updated_at: now, finished_at: now };
    bulks.unshift(made);
    changed('bulk');
    return { $status: 202, ...made };
  };
  const steer = (id, verb) => {
    const one = find(id);
    if (one.finished_at) throw new Problem(409, 'invalid_state', `The instance is already ${one.status}.`);
    one.status = { pause: 'paused', resume: 'running', cancel: 'cancelled', continue: 'running' }[verb];
    if (verb === 'cancel') one.finished_at = new Date().toISOString();
    changed('bulk', `bulk:${id}`);
    return one;
  };
  return [
    ['POST', /^\/bulk$/, (_, __, body) => post(body)],
    ['GET', /^\/bulk$/, () => (needs('bulk'), { items: bulks, next_cursor: null })],
    ['GET', /^\/bulk\/([^/]+)$/, ([id]) => (needs('bulk'), find(id))],
    ['POST', /^\/bulk\/([^/]+)\/(pause|resume|cancel|continue)$/, ([id, verb]) => (needs('bulk'), steer(id, verb))],
  ];
}
