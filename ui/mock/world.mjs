// A month of sample data: about 700 instances of five workflows, with failures in groups, decisions, dead letters and
// compensations, and what goes on while one looks.
import { DEFINITIONS } from './definitions.mjs';
import { play } from './play.mjs';
import { random } from './random.mjs';

const WORKERS = ['pay-1', 'pay-2', 'stock-1', 'mail-1'];
export const HOSTILE = `<img src=x onerror="alert(1)">"'\`\${7*7}{{7*7}}</script><script>alert(2)</script>\u202Etxt.exe\u2066\u200B\u009B`;

const FAILURES = {
  order: [
    { weight: 34, node: 'charge', code: 'card_declined', message: 'The bank declined the card: insufficient funds', permanent: true },
    { weight: 13, node: 'charge', code: 'http_503', message: 'POST payments.example/charge answered 503 Service Unavailable' },
    { weight: 8, node: 'ship', code: 'timeout', message: 'The carrier did not answer within 30s' },
    { weight: 5, node: 'reserve', code: 'out_of_stock', message: 'Article 4711 is out of stock', permanent: true },
  ],
  expenses: [{ weight: 9, node: 'pay_out', code: 'iban_invalid', message: 'The account DE00 1234 5678 9012 3456 78 does not exist', permanent: true }, { weight: 4, node: 'book', code: 'http_500', message: 'POST ledger.example/entries answered 500 Internal Server Error' }],
  'nightly-report': [{ weight: 3, node: 'render', code: 'exit_137', message: 'The handler "render": the program "render-pdf" was killed (out of memory)' }],
  onboarding: [{ weight: 2, node: 'register_payroll', code: 'tax_id_missing', message: 'The field tax_id is required', permanent: true }],
  shipment: [{ weight: 3, node: 'label', code: 'address_unknown', message: 'No such street in 20457 Hamburg', permanent: true }],
};

const INPUTS = {
  order: (r, n) => ({ order: `SO-${20000 + n}`, amount: r.int(9, 2400), currency: r.pick(['EUR', 'USD', 'GBP']), express: r.is(0.2), items: [{ sku: `A-${r.int(100, 999)}`, quantity: r.int(1, 4) }] }),
  expenses: (r, n) => ({ report: `EX-${900 + n}`, person: r.pick(['Ann Becker', 'João Silva', 'Мария Иванова', 'Ben Wu']), amount: r.int(12, 1800), purpose: r.pick(['Train to Lyon', 'Team dinner', 'Conference ticket', 'Keyboard']) }),
  onboarding: (r) => ({ person: r.pick(['Lena Vogel', 'Tiago Reis', 'Ivan Petrov', 'Mei Lin']), start: '2026-12-01', team: r.pick(['Payments', 'Search', 'Platform']) }),
  'nightly-report': () => ({ day: '2026-11-21' }),
  shipment: (r, n) => ({ parcel: `P${70000 + n}`, country: r.pick(['CH', 'NO', 'GB', 'US']), weight_g: r.int(200, 9000) }),
};
const KEYS = { order: (input) => `k7-${input.order.slice(3)}`, expenses: (input) => input.report, shipment: (input) => input.parcel, 'nightly-report': () => null, onboarding: () => null };

function chooseScript(r, workflow) {
  const failures = FAILURES[workflow];
  const script = { big: r.is(0.3), slow: r.pick([200, 900, 900, 4000]) };
  if (r.is(0.14)) {
    const total = failures.reduce((sum, one) => sum + one.weight, 0);
    let at = r.next() * total;
    const failure = failures.find((one) => (at -= one.weight) < 0) ?? failures[0];
    script.fail = { [failure.node]: failure };
    script.then = workflow === 'expenses' || r.is(0.35) ? 'dead_letter' : 'compensate';
  } else if (r.is(0.12)) {
    const failure = r.pick(failures);
    script.fail = { [failure.node]: { ...failure, permanent: false, times: r.int(1, 2) } };
  }
  return script;
}

/** What stands somewhere now: made one by one, so that every state occurs. */
function liveScripts(r) {
  const many = (count, workflow, script) => Array.from({ length: count }, () => ({ workflow, script: typeof script === 'function' ? script() : script }));
  return [
    ...many(9, 'order', () => ({ stop: r.pick(['charge', 'ship', 'pack', 'print_invoice']) })),
    ...many(5, 'order', () => ({ big: true, stop: 'approve' })),
    ...many(7, 'expenses', () => ({ stop: 'manager', deadline: r.int(-40, 60) * 36e5 })),
    ...many(3, 'expenses', { big: true, stop: 'finance' }),
    ...many(4, 'onboarding', { stop: 'laptop_arrived' }),
    ...many(2, 'onboarding', { stop: 'until_first_day' }),
    ...many(8, 'shipment', { stop: 'ship_abroad', missing: true }),
    ...many(3, 'shipment', { stop: 'customs_cleared' }),
    ...many(2, 'order', { fail: { charge: FAILURES.order[1] }, retrying: 'charge' }),
    ...many(1, 'order', { fail: { ship: FAILURES.order[2] }, then: 'compensate', undoing: 'charge' }),
    ...many(1, 'order', { fail: { ship: FAILURES.order[2] }, then: 'compensate', stuck: 'charge' }),
    ...many(2, 'order', { stop: 'charge', pause: true }),
    ...many(3, 'order', { big: true, stop: 'approve', cancel: true }),
    ...many(2, 'nightly-report', { stop: 'render' }),
  ];
}

export function makeWorld({ seed = 7, hostile = false, history = 0 } = {}) {
  const r = random(seed);
  const now = Date.now();
  const definitions = structuredClone(DEFINITIONS);
  const byName = new Map(definitions.map((definition) => [definition.workflow, definition]));
  const instances = [];
  let n = 0;
  const add = (workflow, start, script) => {
    const input = INPUTS[workflow](r, ++n);
    if (hostile) Object.assign(input, { [HOSTILE]: HOSTILE });
    const key = hostile && n % 3 === 0 ? `${HOSTILE}${n}` : KEYS[workflow](input);
    const instance = play(byName.get(workflow), { id: r.id(start), key, input, start, script, r, worker: r.pick(WORKERS), now });
    if (workflow === 'order') instance.labels = { tenant: hostile ? HOSTILE : ['acme', 'globex', 'initech'][n % 3], amount: n % 40, is_gift: n % 2 === 0 };
    instances.push(instance);
    return instance;
  };
  if (hostile) for (const list of Object.values(FAILURES)) for (const failure of list) failure.message = `${failure.message.split(' — ')[0]} — ${HOSTILE}`;
  for (let i = 0; i < 640; ++i) {
    const workflow = r.pick(['order', 'order', 'order', 'order', 'expenses', 'nightly-report', 'shipment', 'onboarding']);
    add(workflow, now - (r.is(0.5) ? r.int(600_000, 864e5) : r.int(864e5, 28 * 864e5)), chooseScript(r, workflow));
  }
  for (const { workflow, script } of liveScripts(r)) add(workflow, now - r.int(60_000, workflow === 'expenses' ? 4 * 864e5 : 5e6), script);
  if (history) instances.push(longInstance(byName.get('order'), history, r, now));
  instances.sort((a, b) => (a.id < b.id ? 1 : -1));
  return { now, r, delayed: hostile ? [{ workflow: HOSTILE, handler: HOSTILE, queue: HOSTILE, tasks: 2, since: new Date(now - 300_000).toISOString(), reason: 'queue_full', instance: instances[0].id }] : [], definitions, instances, retention: { '*': { workflow: '*', completed: '30d', failed: '90d', updated_at: null, partitioned_by: null } }, queues: makeQueues(now, hostile), workers: makeWorkers(now, definitions, hostile), saved: {}, add, byName, listeners: new Set() };
}

/** One instance with as many events as are wanted, for the windowed history. */
function longInstance(definition, count, r, now) {
  const instance = play(definition, { id: r.id(now - 36e5), key: 'long', input: { order: 'SO-1', amount: 5 }, start: now - 36e5, script: { stop: 'charge' }, r, worker: 'pay-1', now });
  const last = instance.history[instance.history.length - 1];
  for (let seq = last.seq + 1; seq <= count; ++seq) {
    const at = new Date(now - 36e5 + seq * 80).toISOString().replace('Z', '000Z');
    instance.history.push({ ...last, seq, at, type: seq % 9 ? 'step_completed' : 'step_retried', node: ['reserve', 'charge', 'ship'][seq % 3], attempt: 1, visit: seq, started_at: at, payload: { turn: seq }, worker: 'pay-1' });
  }
  instance.revision = count;
  return instance;
}

function makeQueues(now, hostile) {
  const at = new Date(now - 5 * 864e5).toISOString();
  const queue = (name, more) => ({ name, concurrency: null, concurrency_per_key: null, rate: null, updated_at: null, running: 0, waiting: 0, sleeping: 0, slots: 0, starts: 0, next_start: null, ...more });
  return [
    queue('default', { running: 3, waiting: 1, sleeping: 12 }),
    queue('carriers', { waiting: 8 }),
    queue('mail', { rate: { starts: 100, period: '1m' }, running: 1, sleeping: 2, starts: 41, updated_at: at }),
    queue('payments', { concurrency: 4, concurrency_per_key: 1, rate: { starts: 20, period: '1s' }, running: 4, waiting: 6, sleeping: 2, slots: 4, starts: 7, updated_at: at }),
    ...(hostile ? [queue(HOSTILE, { waiting: 1 })] : []),
    queue('stock', { concurrency: 16, running: 2, slots: 2, updated_at: at }),
  ];
}

function makeWorkers(now, definitions, hostile) {
  const handlers = new Set();
  const collect = (steps) => {
    for (const step of steps) {
      if (step.step) handlers.add(step.step);
      if (step.compensate) handlers.add(step.compensate);
      for (const lane of Object.values(step.branches ?? {})) collect(lane);
    }
  };
  for (const definition of definitions) collect(definition.steps);
  handlers.delete('ship_abroad');
  const all = [...handlers].sort();
  const worker = (id, host, pid, minutes, more) => ({ id, host, pid, is_alive: true, is_draining: false, threads: 4, tasks: 1, handlers: all, queues: [], started_at: new Date(now - minutes * 60_000).toISOString(), expires_at: new Date(now + 8000).toISOString(), ...more });
  return [
    ...(hostile ? [worker(HOSTILE, HOSTILE, 4, 5, { queues: [HOSTILE] })] : []),
    worker('mail-1', 'web-03', 812, 60 * 24 * 9, { queues: ['mail', 'default'], tasks: 1, handlers: all.filter((name) => /mail|publish|render|read|notify|welcome|print/.test(name)) }),
    worker('pay-1', 'pay-01', 2214, 60 * 30, { queues: ['payments', 'default'], tasks: 4 }),
    worker('pay-2', 'pay-02', 2190, 60 * 30, { queues: ['payments', 'default'], tasks: 3, is_draining: true, threads: 0 }),
    worker('stock-1', 'erp-07', 77, 12, { queues: ['stock'], tasks: 2, handlers: all.filter((name) => /reserve|release|pack|check/.test(name)) }),
    worker('stock-0', 'erp-07', 41, 60 * 50, { queues: ['stock'], tasks: 2, is_alive: false, expires_at: new Date(now - 95_000).toISOString(), handlers: ['reserve', 'release'] }),
  ];
}
