// Plays one instance of a definition with scripted outcomes and writes its history, as the engine would.
import { kindOf, lanesOf, nameOf } from './layout.mjs';

const iso = (ms) => new Date(ms).toISOString().replace('Z', '000Z');

/**
 * script: {fail: {node: {code, message, times?}}, stop: node (it waits or runs there), then: 'compensate'|'dead_letter',
 *          stuck: node whose compensation fails for good, cancel: bool}
 */
export function play(definition, { id, key, input, start, script, r, worker, now }) {
  const history = [];
  const steps = [];
  const done = [];
  const waiting_for = [];
  let visit = 0;
  const add = (at, type, more = {}) => {
    history.push({ seq: history.length + 1, at: iso(at), type, node: null, path: null, visit: 0, attempt: 0, ref: 0, payload: null, worker: null, started_at: null, ...more });
    return history.length;
  };
  add(start, 'started', { payload: input, worker: 'api:shop' });
  let error = null;
  let status = 'running';
  class Stop extends Error {}

  const step_row = (node, kind, path, more) => {
    const row = { node, kind, path, visit: ++visit, status: 'running', attempts: 0, input: null, output: null, error: null, worker: null, started_at: null, finished_at: null, ...more };
    steps.push(row);
    return row;
  };

  function run(node, path, at, data) {
    const kind = kindOf(node);
    const name = nameOf(node);
    const options = typeof node === 'string' ? {} : node;
    if (kind === 'savepoint') {
      add(at, 'savepoint_reached', { node: name, path });
      return [at, data];
    }
    if (kind === 'condition') {
      const taken = script.big ? 'then' : 'else';
      const row = step_row(name, kind, path, { status: 'completed', started_at: iso(at), finished_at: iso(at), output: data });
      add(at, 'branch_taken', { node: name, path, visit: row.visit, payload: { taken } });
      return sequence(options[taken] ?? [], path, at, data);
    }
    if (kind === 'parallel') {
      const row = step_row(name, kind, path, { started_at: iso(at) });
      const opened = add(at, 'scope_opened', { node: name, path, visit: row.visit });
      const output = {};
      let latest = at;
      let stopped = null;
      for (const [branch, lane] of lanesOf(node)) {
        try {
          const [end, result] = sequence(lane, `${name}:${branch}`, at + r.int(1, 4), data);
          output[branch] = result;
          latest = Math.max(latest, end);
          add(end, 'branch_completed', { node: name, path: `${opened}:${branch}` });
        } catch (reason) {
          if (!(reason instanceof Stop)) throw reason;
          stopped = reason;
        }
      }
      if (stopped) {
        if (error) row.status = 'failed';
        throw stopped;
      }
      Object.assign(row, { status: 'completed', output, finished_at: iso(latest) });
      add(latest, 'scope_joined', { node: name, path, visit: row.visit, payload: output });
      return [latest, output];
    }
    if (kind === 'decision' || kind === 'signal' || kind === 'delay') return wait(node, kind, name, options, path, at, data);
    return call(name, options, path, at, data);
  }

  function wait(node, kind, name, options, path, at, data) {
    // A branch that waits beside one that fails is stopped.
    if (path && script.fail && Object.values(script.fail).some((one) => one.permanent)) throw new Stop();
    if (script.fail?.[name]) return call(name, options, path, at, data);
    const row = step_row(name, kind, path, { input: data, started_at: iso(at), status: 'waiting' });
    const due = kind === 'signal' ? null : iso(at + (kind === 'delay' ? 14 * 864e5 : (script.deadline ?? 48 * 36e5)));
    const asked = add(at, { decision: 'decision_awaited', signal: 'signal_awaited', delay: 'timer_started' }[kind], { node: name, path, visit: row.visit, payload: { due } });
    if (script.stop === name) {
      const sentence = { decision: `Decision "${name}" waits for a person in the role ${(options.roles ?? ['anyone']).join(', ')}.`, signal: `It waits for the signal "${name}".`, delay: `It sleeps at "${name}".` }[kind];
      waiting_for.push({ kind: kind === 'delay' ? 'timer' : kind, node: name, what: kind === 'decision' ? (options.roles ?? []).join(', ') : name, until: due, sentence });
      throw new Stop();
    }
    const took = r.int(20, 900) * 1000;
    const end = Math.min(at + took, now - 2000);
    const output = kind === 'decision' ? { ...data, decision: { at: iso(end), by: ['user:ann'], comment: 'Fine with me.', verdict: 'confirmed' } } : data;
    if (kind === 'decision') {
      add(end, 'decision_made', { node: name, path, visit: row.visit, ref: asked, worker: 'user:ann', payload: { verdict: 'confirm', role: options.roles?.[0], comment: 'Fine with me.' } });
      add(end, 'decision_completed', { node: name, path, visit: row.visit, ref: asked, payload: output });
    } else add(end, kind === 'signal' ? 'signal_completed' : 'timer_fired', { node: name, path, visit: row.visit, ref: asked, payload: output });
    Object.assign(row, { status: 'completed', output, finished_at: iso(end) });
    return [end, output];
  }

  function call(name, options, path, at, data) {
    const row = step_row(name, 'step', path, { input: data });
    const failing = script.fail?.[name];
    const most = options.max_attempts ?? 3;
    let begin = at + r.int(3, 40);
    const first = begin;
    for (let attempt = 1; ; ++attempt) {
      const took = r.int(20, script.slow ?? 900);
      const end = begin + took;
      const common = { node: name, path, visit: row.visit, attempt, ref: history.length, worker, started_at: iso(begin) };
      Object.assign(row, { attempts: attempt, worker, started_at: iso(first) });
      if (script.stop === name && !failing) {
        row.started_at = iso(Math.max(first, now - r.int(1, 40) * 1000));
        const missing = script.missing;
        if (missing) Object.assign(row, { status: 'pending', started_at: null, attempts: 0, worker: null });
        waiting_for.push(missing
          ? { kind: 'worker', node: name, what: name, until: null, sentence: `Step "${name}" waits for a worker with the handler "${name}": none is alive.` }
          : { kind: 'handler', node: name, what: name, until: null, sentence: `Step "${name}" runs (attempt ${attempt}) on ${worker}.` });
        throw new Stop();
      }
      if (!failing || attempt > (failing.times ?? Infinity)) {
        const output = { ...data, [`${name}_id`]: `${name.slice(0, 2)}-${r.int(1000, 9999)}` };
        const seq = add(end, 'step_completed', { ...common, payload: output });
        Object.assign(row, { status: 'completed', output, finished_at: iso(end) });
        done.push({ name, row, seq, compensate: options.compensate, output });
        return [end, output];
      }
      const payload = { code: failing.code, message: failing.message, details: failing.details };
      if (attempt < most && !failing.permanent) {
        add(end, 'step_retried', { ...common, payload });
        if (script.retrying === name) {
          const until = iso(now + r.int(10, 200) * 1000);
          Object.assign(row, { status: 'retrying', error: payload });
          waiting_for.push({ kind: 'retry', node: name, what: name, until, sentence: `Step "${name}" will be tried again (attempt ${attempt + 1} of ${most}).` });
          throw new Stop();
        }
        begin = end + Math.round(1000 * 2 ** (attempt - 1) * (0.9 + 0.2 * r.next()));
        continue;
      }
      const seq = add(end, 'step_failed', { ...common, payload });
      Object.assign(row, { status: 'failed', error: payload, finished_at: iso(end) });
      error = { ...payload, step: name };
      roll(end, seq, name, attempt);
      throw new Stop();
    }
  }

  function roll(at, failed, name) {
    if (script.then === 'dead_letter') {
      add(at, 'dead_lettered', { ref: failed });
      status = 'dead_letter';
      waiting_for.push({ kind: 'operator', node: name, what: 'requeue', until: null, sentence: `Step "${name}" has failed for good and waits for an operator: requeue it (with another input, if need be), cancel or abort the instance.` });
      return;
    }
    undo(at, failed, 'failure', 'failed');
  }

  function undo(at, ref, kind, final) {
    add(at, 'rollback_started', { ref, payload: { kind } });
    status = 'compensating';
    let begin = at + 20;
    for (const one of [...done].sort((a, b) => (a.row.finished_at < b.row.finished_at ? 1 : -1))) {
      if (!one.compensate) continue;
      const end = begin + r.int(60, 1200);
      const common = { node: one.name, path: one.row.path, visit: ++visit, ref: one.seq, worker, started_at: iso(begin) };
      if (script.stuck === one.name) {
        const payload = { code: 'refused', message: `The bank refuses: account closed`, outcome: 'completed' };
        add(end, 'compensation_retried', { ...common, attempt: 1, payload });
        add(end + 2200, 'compensation_failed', { ...common, attempt: 2, started_at: iso(end + 1500), payload });
        one.row.status = 'compensation_failed';
        add(end + 2200, 'dead_lettered', { ref });
        status = 'dead_letter';
        error = { code: 'refused', message: payload.message, step: one.name };
        waiting_for.push({ kind: 'operator', node: one.name, what: 'requeue', until: null, sentence: `The compensation of "${one.name}" has failed for good and waits for an operator: requeue it, skip it or abort the instance.` });
        return;
      }
      if (script.undoing === one.name) {
        one.row.status = 'compensating';
        waiting_for.push({ kind: 'handler', node: one.name, what: one.compensate, until: null, sentence: `The compensation "${one.compensate}" of "${one.name}" runs.` });
        return;
      }
      add(end, 'step_compensated', { ...common, attempt: 1, payload: { input: one.row.input, output: one.output, error: null, outcome: 'completed' } });
      one.row.status = 'compensated';
      begin = end + r.int(5, 60);
    }
    add(begin, 'rollback_finished', { ref });
    add(begin, final, { ref });
    status = final;
  }

  function sequence(list, path, at, data) {
    for (const node of list) [at, data] = run(node, path, at, data);
    return [at, data];
  }

  let output = null;
  try {
    const [end, result] = sequence(definition.steps, null, start + 5, input);
    output = result;
    status = 'completed';
    add(end, 'completed', { payload: result });
  } catch (reason) {
    if (!(reason instanceof Stop)) throw reason;
    if (script.cancel && status === 'running') {
      const at = now - r.int(60, 3600) * 1000;
      waiting_for.length = 0;
      for (const row of steps) if (['waiting', 'running', 'retrying', 'pending'].includes(row.status)) row.status = 'skipped';
      const asked = add(at, 'cancel_requested', { worker: 'user:ben', payload: { reason: 'ordered twice' } });
      undo(at, asked, 'cancel', 'cancelled');
      error = { code: 'cancelled', message: 'ordered twice' };
    }
    if (script.pause && status === 'running') {
      add(now - 60_000, 'paused', { worker: 'user:ben', payload: { reason: 'bank is down' } });
      status = 'paused';
    }
  }
  const order = history.map((event, i) => [event, i]).sort((a, b) => (a[0].at < b[0].at ? -1 : a[0].at > b[0].at ? 1 : a[1] - b[1]));
  const number = new Map(order.map(([event], i) => [event.seq, i + 1]));
  const sorted = order.map(([event]) => ({ ...event, seq: number.get(event.seq), ref: number.get(event.ref) ?? 0 }));
  const last = sorted[sorted.length - 1];
  const is_over = ['completed', 'failed', 'cancelled', 'aborted'].includes(status);
  return {
    id, workflow: definition.workflow, version: definition.version, key, status, priority: 0, revision: sorted.length,
    created_at: iso(start), updated_at: last.at, finished_at: is_over ? last.at : null,
    detail: { input, output, error: status === 'completed' ? null : error, waiting_for: is_over ? [] : waiting_for }, steps, history: sorted,
  };
}
