// A real `ebb serve` over a database of its own (SQLite, or the PostgreSQL of EBB_TEST_POSTGRES_URL), filled with life
// through its API: instances that have completed, wait for a person or a signal, have failed and were undone, or are dead
// letters.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const EBB = process.env.EBB_COMMAND;
if (!EBB) throw new Error('EBB_COMMAND names the ebb command.');
const DATABASE = process.env.EBB_TEST_POSTGRES_URL || 'sqlite:life.db';

const ORDER = `
workflow: order
input_schema:
  type: object
  required: [order, amount]
  properties:
    order: {type: string, title: Order number}
    amount: {type: number, minimum: 0, title: Amount}
    risk: {type: string, enum: [low, high]}
steps:
  - step: reserve
    compensate: release
  - step: charge
    compensate: refund
    max_attempts: 1
  - decision: approve
    roles: [boss]
  - signal: paid
  - step: ship
    max_attempts: 1
handlers:
  reserve: {exec: [cat]}
  release: {exec: [cat]}
  charge: {exec: [sh, -c, 'input=$(cat); case $input in *declined*) echo "card 4711 was declined" >&2; exit 1;; esac; echo "$input"']}
  refund: {exec: [cat]}
  ship: {exec: [cat]}
`;
const IMPORT = `
workflow: import
on_error: dead_letter
steps:
  - step: fetch
    max_attempts: 1
handlers:
  fetch: {exec: [sh, -c, 'input=$(cat); case $input in *good*) echo "$input";; *) echo "no route to host 10.0.0.7" >&2; exit 1;; esac']}
`;

/** Starts it on `port` (0 = any). `folder` has its database and its definitions. */
async function start(folder, port, more = []) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml')).sort();
  const args = ['serve', ...files, '--json', '--login-link', '--db', DATABASE, '--listen', `127.0.0.1:${port}`, ...more];
  const child = spawn(EBB, args, { cwd: folder, env: { ...process.env, EBB_DB: '' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  const greeting = await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const entry = JSON.parse(line);
      if (entry.event === 'serving') resolve(entry);
    });
    void ended.then((code) => reject(new Error(`ebb serve ended with ${code}`)));
  });
  return { child, ended, greeting };
}

/** `workflows`: more of them, YAML by name. `args`: more arguments of `ebb serve`. */
export async function startReal({ workflows = {}, args = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-real-'));
  writeFileSync(join(folder, 'order.yaml'), ORDER);
  writeFileSync(join(folder, 'import.yaml'), IMPORT);
  for (const [name, yaml] of Object.entries(workflows)) writeFileSync(join(folder, `${name}.yaml`), yaml);
  let now = await start(folder, 0, args);
  const address = now.greeting.url;
  const link = (role) => {
    const made = spawnSync(EBB, ['login-link', '--db', DATABASE, '--url', address, '--user', 'ann', '--role', role], { cwd: folder, encoding: 'utf8', env: { ...process.env, EBB_DB: '' } });
    if (made.status !== 0) throw new Error(made.stderr);
    return made.stdout.match(/http\S+/)[0];
  };
  const made = spawnSync(EBB, ['token', 'create', 'test', '--role', 'admin', '--db', DATABASE, '--json'], { cwd: folder, encoding: 'utf8', env: { ...process.env, EBB_DB: '' } });
  if (made.status !== 0) throw new Error(made.stderr);
  const { token } = JSON.parse(made.stdout);

  /** A request to the API; throws for an answer that is not a success. */
  async function api(method, path, body, type = 'application/json') {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) };
    const answer = await fetch(`${address}api/v1${path}`, { method, headers, body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text && (answer.headers.get('content-type') ?? '').includes('application/json') ? JSON.parse(text) : text || null;
  }
  /** Asks until the instance is as `test` wants it, with the server's own wait in between. */
  async function until(id, test) {
    for (;;) {
      const view = await api('GET', `/instances/${id}`);
      if (test(view)) return view;
      await api('GET', `/instances/${id}/result?wait=100ms`);
    }
  }
  const waits = (kind) => (view) => view.waiting_for.some((wait) => wait.kind === kind);
  const order = async (input, key) => (await api('POST', '/instances', { workflow: 'order', input, key })).id;

  async function fill() {
    const life = {};
    life.waiting = await order({ order: 'SO-1', amount: 25, risk: 'high' }, 'SO-1');
    life.failed = await order({ order: 'SO-2', amount: 99, note: 'declined' }, 'SO-2');
    life.signal = await order({ order: 'SO-3', amount: 12 }, 'SO-3');
    life.completed = await order({ order: 'SO-4', amount: 7 }, 'SO-4');
    life.inbox = [];
    for (const n of [5, 6]) life.inbox.push(await order({ order: `SO-${n}`, amount: n }, `SO-${n}`));
    life.dead = [];
    for (const n of [1, 2, 3]) life.dead.push((await api('POST', '/instances', { workflow: 'import', input: { file: n }, key: `file-${n}` })).id);
    for (const id of [life.signal, life.completed]) {
      await until(id, waits('decision'));
      await api('POST', `/instances/${id}/decide`, { verdict: 'confirm', role: 'boss', comment: 'fine' });
    }
    await api('POST', `/instances/${life.completed}/signal`, { name: 'paid', payload: { by: 'card' } });
    await until(life.signal, waits('signal'));
    await until(life.completed, (view) => view.status === 'completed');
    await until(life.failed, (view) => view.status === 'failed');
    for (const id of life.dead) await until(id, (view) => view.status === 'dead_letter');
    for (const id of [life.waiting, ...life.inbox]) await until(id, waits('decision'));
    return life;
  }

  return {
    address,
    origin: new URL(address).origin,
    login: now.greeting.login,
    /** Of the process that runs now. */
    loginNow: () => now.greeting.login,
    link,
    token,
    folder,
    api,
    until,
    waits,
    order,
    fill,
    /** kill -9. */
    async kill() {
      now.child.kill('SIGKILL');
      await now.ended;
    },
    /** On the same port. */
    async restart(more = args) {
      now = await start(folder, new URL(address).port, more);
    },
    /** As a service manager does: it drains and ends. */
    async stop() {
      now.child.kill('SIGTERM');
      await now.ended;
    },
    async close() {
      now.child.kill('SIGTERM');
      await now.ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export function pagesOfLife(life) {
  return {
    overview: '', instances: 'instances', filtered: 'instances?q=status:dead_letter', waiting: `instances/${life.waiting}`, graph: `instances/${life.failed}?tab=graph`,
    steps: `instances/${life.failed}?tab=steps`, history: `instances/${life.completed}?tab=history`, data: `instances/${life.completed}?tab=data`, related: `instances/${life.completed}?tab=related`, raw: `instances/${life.failed}?tab=raw`, dead: `instances/${life.dead[0]}`, compare: `instances/${life.failed}/compare/${life.completed}`, columns: 'instances?cols=status,workflow,key,waits,error,ended',
    build: 'build', builder: 'build/order', failures: 'failures', decisions: 'decisions', workflows: 'workflows', workflow: 'workflows/order', retention: 'workflows/order?tab=retention', versions: 'workflows/order?tab=versions', activity: 'workflows/order?tab=activity', yaml: 'workflows/order?tab=yaml', workers: 'workers', queues: 'queues', bulk: 'bulk', docs: 'docs', operation: 'docs?op=startInstance', settings: 'settings',
    grants: 'settings?tab=grants', projects: 'settings?tab=projects', tokens: 'settings?tab=tokens', sessions: 'settings?tab=sessions', audit: 'settings?tab=audit', definitions: 'settings?tab=definitions', config: 'settings?tab=config', notifications: 'notifications',
  };
}
