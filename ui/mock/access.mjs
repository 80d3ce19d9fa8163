// Projects, grants, tokens, the audit, the definitions folder and webhooks of the mock, and the routes to them.
import { createHash } from 'node:crypto';
import { HOSTILE } from './world.mjs';

const ROLES = ['viewer', 'approver', 'operator', 'developer', 'admin', 'worker', 'starter'];
const iso = (ms) => new Date(ms).toISOString().replace('Z', '000Z');
const sha = (text) => createHash('sha256').update(text).digest('hex');

/** As the server hashes a row: its members in this order, behind the hash of the row before it. */
export function auditHash(row) {
  const micros = Math.floor(Date.parse(row.at) / 1000) * 1_000_000 + Number(/\.(\d{6})/.exec(row.at)[1]);
  const text = JSON.stringify([row.id, micros, row.principal, row.credential, row.remote, row.request_id, row.action, row.target, row.workflow ?? '', row.outcome, JSON.stringify(row.detail), row.chain, row.number]);
  return sha(`${row.prev}\n${text}`);
}

function makeAudit(r, now, instances, hostile) {
  const ACTS = [
    ['cancelInstance', 'cancel'], ['requeueInstance', 'requeue'], ['requeueInstance', 'requeue'], ['pauseInstance', 'pause'], ['decideInstance', 'decide'], ['decideInstance', 'decide'], ['signalInstance', 'signal'],
  ];
  const rows = [];
  let [chain, number, prev] = ['9f2c61d0a4b7e813', 0, ''];
  const add = (at, more) => {
    // A server that was restarted begins a chain of its own, which names the newest row of all.
    if (rows.length === 90) [chain, number] = ['4be07a9135cd2f68', 0];
    const row = { id: r.id(at), at: iso(at), principal: 'user:ann', credential: 'session', remote: '10.4.0.17', request_id: r.id(at), workflow: null, outcome: 'allowed', detail: {}, bulk: null, ...more, chain, number: ++number, prev };
    row.hash = prev = auditHash(row);
    rows.push(row);
    return row;
  };
  const PEOPLE = ['user:ann', 'user:ben', 'user:joão', 'token:ci', 'token:shop'];
  for (let i = 260; i > 0; --i) {
    const at = now - i * 19 * 60_000 + r.int(0, 9 * 60_000);
    const principal = hostile && i % 4 === 0 ? `user:${HOSTILE}` : r.pick(PEOPLE);
    const credential = principal.startsWith('token:') ? 'token' : 'session';
    if (i % 37 === 0) add(at, { principal: 'user:ann', action: 'putGrant', target: '/api/v1/grants/ben-operator' });
    else if (i % 23 === 0) add(at, { principal, credential, action: 'putQueue', target: '/api/v1/queues/payments', outcome: 'refused', detail: { status: 403, code: 'not_allowed' } });
    else if (i % 11 === 0) add(at, { principal, action: 'loggedIn', target: '/api/v1/session' });
    else {
      const one = r.pick(instances);
      const [action, verb] = r.pick(ACTS);
      const row = add(at, { principal, credential, action, target: `/api/v1/instances/${one.id}/${verb}`, workflow: one.workflow });
      if (i % 9 === 0) add(at + 40, { principal, credential, action, target: row.target, workflow: one.workflow, request_id: row.request_id, outcome: 'failed', detail: { status: 409, code: 'invalid_state' } });
    }
  }
  return rows.reverse();
}

const grant = (now, days, id, subject, role, project = '*', more = {}) => ({ id, subject, role, project, decision_roles: [], handlers: [], queues: [], act_as: false, created_at: iso(now - days * 864e5), created_by: 'user:ann', ...more });
const webhook = (now, hours, name, url, more = {}) => ({ name, url, format: 'standard', events: [], workflows: [], where: '', enabled: true, payload: false, has_secret: true, old_secret_until: null, failures: 0, suspended_at: null, updated_at: iso(now - hours * 36e5), ...more });

const hook = (name, more) => ({ name, scheme: 'standard', secret: null, workflow: 'order', signal: null, key: null, when: null, input: null, header: null, prefix: null, encoding: null, enabled: true, ...more });

const view = (now, hours, name, owner, query, is_shared = true) => ({ name, owner, page: 'instances', query, is_shared, updated_at: iso(now - hours * 36e5) });

/** A login of a browser, `minutes` ago. */
const login = (now, id, principal, minutes, more) => ({
  id: `5f2c7d1e9a3b4c${id}`, principal, display_name: null, email: null, method: 'link', groups: [], created_at: iso(now - minutes * 60_000), seen_at: iso(now - (minutes * 60_000) / 10), expires_at: iso(now + 30 * 864e5 - minutes * 60_000),
  address: '127.0.0.1', agent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0', is_current: false, ...more,
});

function makeConfig(now, name) {
  const of = (key, about, more = {}) => ({ key, value: null, origin: 'default', place: null, about, is_live: false, needs_restart: false, ...more });
  const file = (line, value, more) => ({ value, origin: 'file', place: `/etc/ebb/serve.yaml:${line}:1`, ...more });
  return {
    loaded_at: iso(now - 26 * 60_000),
    error: `/etc/ebb/serve.yaml:9:1: There is no setting "titel"; did you mean "title"?${name}`,
    settings: [
      of('db', 'The database', { value: 'postgresql://ebb:***@db.shop.example/ebb', origin: 'environment', place: 'EBB_DB' }),
      of('definitions', 'Register the workflows of this folder, always', file(2, '/etc/ebb/workflows')),
      of('listen', 'HOST:PORT, unix:PATH or fd:N (default: 127.0.0.1:8322)', file(3, '127.0.0.1:8322, [::1]:8322')),
      of('tls_cert', 'Serve HTTPS with this certificate', { is_live: true }), of('tls_key', 'Its private key', { is_live: true }),
      of('behind_proxy', 'Serve only proxies at these addresses', file(4, '10.4.0.0/16')),
      of('allowed_hosts', 'Further names of this server', file(5, 'ebb.shop.example', { is_live: true })),
      of('smtp_password_file', 'And with this password', file(7, '/run/secrets/smtp')),
      of('base_path', 'Serve everything below this path (/)'), of('title', 'Shown by the web UI', { value: `Shop, production${name}`, origin: 'flag' }),
      of('requests_per_second', 'Per token or person; 0 = no limit (1000)', { is_live: true }), of('max_connections', 'Open at once, streams included (4096)'),
      of('threads', 'Handlers that run at the same time', file(8, '16', { needs_restart: true })), of('drain_timeout', 'How long handlers may continue after SIGTERM (30s)', { is_live: true }),
    ],
  };
}

export function makeAccess({ now, r, instances, hostile, empty }) {
  const built_in = { name: '*', title: null, workflows: ['*'], queues: ['*'], is_built_in: true, created_at: iso(now - 60 * 864e5), created_by: null };
  if (empty) return { projects: [built_in], grants: [], tokens: [], sessions: [], audit: [], webhooks: [], hooks: [], views: [], deliveries: [], config: { settings: [], loaded_at: null, error: null }, files: { has_folder: false, items: [] } };
  const name = hostile ? HOSTILE : '';
  const project = (name, title, workflows, queues, days) => ({ name, title, workflows, queues, is_built_in: false, created_at: iso(now - days * 864e5), created_by: 'user:ann' });
  const delivery = (key, minutes, status) => {
    const at = iso(now - minutes * 60_000);
    const id = r.id(now - minutes * 60_000);
    return { id, workflow: 'ebb:webhook', version: 1, status, key, priority: 0, revision: 3, created_at: at, updated_at: at, finished_at: status === 'completed' ? at : null, detail: { input: null, output: null, error: null, waiting_for: [] }, steps: [], history: [] };
  };
  const some = instances.filter((one) => one.status === 'failed').slice(0, 6);
  return {
    projects: [
      built_in, project('billing', `Orders and payments${name}`, ['order', 'invoice-*'], ['payments', 'mail'], 41), project('people', null, ['onboarding', 'expenses'], [], 40), project('shipping', 'Parcels', ['ship*'], ['carriers', 'stock'], 12),
    ],
    grants: [
      grant(now, 41, 'ann', 'user:ann', 'admin', '*', { created_by: null }), grant(now, 40, 'ben-operator', `user:ben${name}`, 'operator', 'billing'), grant(now, 40, 'ben-viewer', `user:ben${name}`, 'viewer'),
      grant(now, 39, 'finance', 'group:finance', 'approver', 'people', { decision_roles: ['finance', 'manager'] }), grant(now, 30, 'joao', 'user:joão', 'developer', 'shipping'),
      grant(now, 12, 'parcels', 'token:parcels', 'worker', '*', { handlers: ['ship_*', 'label'], queues: ['carriers'] }), grant(now, 5, 'shop', 'token:shop', 'starter', 'billing', { act_as: true }),
    ],
    sessions: [
      login(now, 'a1', 'user:ann', 12, { display_name: `Ann Berg${name}`, email: 'ann@shop.example', method: 'oidc', groups: ['admins'], is_current: true }),
      login(now, 'b2', 'user:ann', 2900, { display_name: `Ann Berg${name}`, email: 'ann@shop.example', method: 'oidc', agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/605.1.15', address: '10.0.4.2' }),
      login(now, 'c3', `user:joão${name}`, 300, { agent: `Mozilla/5.0 Firefox/140.0${name}` }),
    ],
    tokens: [
      { name: 'ci', id: 'a8f3k2q9', principal: 'token:ci', role: 'developer', project: '*', created_at: iso(now - 9e9), created_by: 'user:ann', expires_at: iso(now + 4e9), last_used_at: iso(now - 36e5) },
      { name: 'parcels', id: 'm2x7c0pd', principal: 'token:parcels', role: 'worker', project: '*', created_at: iso(now - 1e9), created_by: 'user:joão', expires_at: null, last_used_at: iso(now - 4000) },
      { name: 'shop', id: 'q5r9t1ab', principal: 'token:shop', role: 'viewer', project: 'billing', created_at: iso(now - 4e8), created_by: 'user:ann', expires_at: iso(now + 7e9), last_used_at: null },
    ],
    audit: makeAudit(r, now, instances, hostile),
    webhooks: [
      webhook(now, 300, 'audit-copy', 'https://siem.example/ebb/events', { format: 'cloudevents' }),
      webhook(now, 51, 'chat', 'https://chat.example/hooks/8fk2-ops-channel', { format: 'slack', events: ['instance.dead_lettered', 'decision.awaited'] }),
      webhook(now, 90, 'erp', `https://erp.example/in/ebb?tenant=acme${encodeURIComponent(name)}`, { events: ['instance.*'], workflows: ['order', 'shipment'], failures: 4 }),
      webhook(now, 700, 'old-crm', 'https://crm.example/hook', { events: ['instance.completed'], workflows: ['order'], enabled: false }),
      webhook(now, 8, 'pager', 'https://pager.example/v2/enqueue', { events: ['instance.dead_lettered', 'step.failed'], failures: 50, suspended_at: iso(now - 3.2 * 36e5), old_secret_until: iso(now + 5 * 36e5) }),
    ],
    views: [view(now, 70, hostile ? HOSTILE : 'cards refused', 'user:ben', 'q=error:card_declined&sort=created')],
    hooks: [
      hook('github', { scheme: 'github', workflow: 'nightly-report', when: "body.action == 'published'", key: null }),
      hook('payments', { scheme: 'stripe', workflow: 'order', signal: 'paid', key: `k7-\${ body.order }${name}`, secret: { env: 'EBB_HOOK_PAYMENTS' } }),
      hook('old-shop', { scheme: 'token', workflow: 'order', enabled: false }),
    ],
    deliveries: some.flatMap((one, i) => [delivery(`erp/${one.id}/${i + 4}`, 12 * i + 3, i < 2 ? 'running' : 'completed'), delivery(`pager/${one.id}/${i + 4}`, 30 * i + 190, i < 4 ? 'running' : 'dead_letter')]),
    config: makeConfig(now, name),
    files: { has_folder: true, items: [
      { file: 'expenses.yaml', state: 'registered', workflow: 'expenses', version: 2, message: null, problems: [], since: iso(now - 3 * 864e5) },
      { file: 'order.yaml', state: 'refused', workflow: 'order', version: 3, message: 'Version 3 of "order" is registered with other content. Give the file a new version.', problems: [], since: iso(now - 40 * 60_000) },
      { file: 'parcels/shipment.yaml', state: 'invalid', workflow: null, version: null, message: null, problems: [{ code: 'unknown_key', pointer: '/steps/2/stp', message: `There is no key "stp"; did you mean "step"?${name}`, line: 14, column: 5 }], since: iso(now - 6 * 60_000) },
      { file: 'trial.yaml', state: 'gone', workflow: 'trial', version: 1, message: null, problems: [], since: iso(now - 9 * 864e5) },
    ] },
  };
}

/** What the API says of a delivery, which is an instance of Ebb's own. */
export function deliveryOf(one) {
  const status = { running: 'retrying', completed: 'delivered', dead_letter: 'dead_letter' }[one.status] ?? 'stopped';
  const error = status === 'delivered' ? null : { code: 'http_503', message: 'The receiver answered 503 Service Unavailable.' };
  return {
    id: one.id, event_id: `evt_${one.key.split('/').slice(1).join('_')}`, type: 'instance.failed', instance: one.key.split('/')[1], workflow: 'order', status, attempts: status === 'delivered' ? 1 : 4, response_status: status === 'delivered' ? 204 : null,
    error, created_at: one.created_at, updated_at: one.updated_at, next_attempt_at: null,
  };
}

/** As `GET /me` has them: those of ann. */
export const myGrants = (role) => [{ id: 'ann', subject: 'user:ann', role, project: '*', workflows: ['*'], decision_roles: [], handlers: [], queues: [], act_as: false }];

export function accessRoutes(access, { Problem, needs }) {
  const allow = (permission, handler) => (...args) => {
    needs(permission);
    return handler(...args);
  };
  const now = () => iso(Date.now());
  const found = (list, key, value, what) => list.find((one) => one[key] === value) ?? (() => { throw new Problem(404, 'not_found', `There is no ${what} of this name.`); })();
  const put = (list, key, value, made) => {
    const at = list.findIndex((one) => one[key] === value);
    if (at < 0) list.push(made);
    else list[at] = { ...made, created_at: list[at].created_at, created_by: list[at].created_by };
    return { $status: at < 0 ? 201 : 200, ...list[at < 0 ? list.length - 1 : at] };
  };
  const drop = (list, key, value) => {
    const at = list.findIndex((one) => one[key] === value);
    if (at >= 0) list.splice(at, 1);
    return null;
  };
  const ME = 'user:ann';
  const ownView = (one) => ({ ...one, is_own: one.owner === ME });
  const admin = (handler) => (...args) => {
    needs('admin');
    return handler(...args);
  };
  const hooks = (handler) => (...args) => {
    needs('webhooks.write');
    return handler(...args);
  };
  const listAudit = (_, query) => {
    needs('audit.read');
    const is = (name, value) => !query.get(name) || query.get(name) === value;
    const rows = access.audit.filter((row) => is('who', row.principal) && is('action', row.action) && is('target', row.target) && is('workflow', row.workflow ?? '') && (!query.get('since') || row.at >= query.get('since')));
    const from = query.get('cursor') ? rows.findIndex((row) => row.id === query.get('cursor')) + 1 : 0;
    const items = rows.slice(from, from + Number(query.get('limit') ?? 50));
    return { items, next_cursor: from + items.length < rows.length ? items[items.length - 1].id : null };
  };
  const secret = (name) => `whsec_${createHash('sha256').update(name).digest('base64')}`;
  return [
    ['GET', /^\/projects$/, admin(() => ({ items: access.projects }))],
    ['PUT', /^\/projects\/([^/]+)$/, admin(([name], _, body) => put(access.projects, 'name', name, { name, title: body.title ?? null, workflows: body.workflows, queues: body.queues ?? [], is_built_in: false, created_at: now(), created_by: 'user:ann' }))],
    ['DELETE', /^\/projects\/([^/]+)$/, admin(([name]) => {
      if (access.grants.some((one) => one.project === name)) throw new Problem(409, 'conflict', `A grant names the project "${name}".`);
      return drop(access.projects, 'name', name);
    })],
    ['GET', /^\/grants$/, admin(() => ({ items: access.grants }))],
    ['PUT', /^\/grants\/([^/]+)$/, admin(([id], _, body) => {
      if (!ROLES.includes(body.role)) throw new Problem(400, 'invalid_argument', 'The member "role" is not one of the roles.');
      const { subject, role, project = '*', decision_roles = [], handlers = [], queues = [], act_as = false } = body;
      return put(access.grants, 'id', id, { id, subject, role, project, decision_roles, handlers, queues, act_as, created_at: now(), created_by: 'user:ann' });
    })],
    ['DELETE', /^\/grants\/([^/]+)$/, admin(([id]) => drop(access.grants, 'id', id))],
    ['GET', /^\/audit$/, listAudit],
    ['GET', /^\/tokens$/, admin(() => ({ items: access.tokens }))],
    ['PUT', /^\/tokens\/([^/]+)$/, admin(([name], _, body) => {
      const made = { name, id: 'b2c4d6e8', principal: `token:${name}`, role: body.role, project: body.project ?? '*', created_at: now(), created_by: 'user:ann', expires_at: null, last_used_at: null };
      access.tokens.push(made);
      return { $status: 201, ...made, token: 'ebb_b2c4d6e8_made-by-the-mock' };
    })],
    ['DELETE', /^\/tokens\/([^/]+)$/, admin(([name]) => drop(access.tokens, 'name', name))],
    ['GET', /^\/sessions$/, () => ({ items: access.sessions })],
    ['DELETE', /^\/sessions\/([^/]+)$/, ([id]) => drop(access.sessions, 'id', id)],
    ['GET', /^\/admin\/config$/, admin(() => access.config)],
    ['GET', /^\/admin\/definitions$/, admin(() => access.files)],
    ['GET', /^\/views$/, (_, query) => ({ items: access.views.filter((one) => !query.get('page') || one.page === query.get('page')).map(ownView) })],
    ['PUT', /^\/views\/([^/]+)$/, ([name], _, body) => {
      const made = view(Date.now(), 0, name, ME, body.query, body.is_shared ?? false);
      const at = access.views.findIndex((one) => one.name === name && one.owner === ME);
      access.views.splice(at < 0 ? access.views.length : at, at < 0 ? 0 : 1, made);
      access.views.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { $status: at < 0 ? 201 : 200, ...ownView(made) };
    }],
    ['DELETE', /^\/views\/([^/]+)$/, ([name]) => {
      access.views = access.views.filter((one) => one.name !== name || one.owner !== ME);
      return null;
    }],
    ['GET', /^\/webhooks$/, hooks(() => ({ items: access.webhooks }))],
    ['PUT', /^\/webhooks\/([^/]+)$/, hooks(([name], _, body) => {
      if (!/^https?:\/\//.test(body.url)) throw new Problem(400, 'invalid_argument', 'The member "url" is not an address that begins with https:// or http://.');
      const { $status, ...made } = put(access.webhooks, 'name', name, webhook(Date.now(), 0, name, body.url, { format: body.format, events: body.events, workflows: body.workflows, where: body.where ?? '', enabled: body.enabled }));
      return $status === 201 ? { ...made, secret: secret(name) } : made;
    })],
    ['DELETE', /^\/webhooks\/([^/]+)$/, hooks(([name]) => drop(access.webhooks, 'name', name))],
    ['POST', /^\/webhooks\/([^/]+)\/rotate$/, hooks(([name]) => ({ ...Object.assign(found(access.webhooks, 'name', name, 'webhook'), { old_secret_until: iso(Date.now() + 864e5) }), secret: secret(`${name} again`) }))],
    ['POST', /^\/webhooks\/([^/]+)\/ping$/, hooks(([name]) => {
      found(access.webhooks, 'name', name, 'webhook');
      return { $status: 202, $text: '', $type: 'text/plain' };
    })],
    ['GET', /^\/webhooks\/([^/]+)\/deliveries$/, hooks(([name], query) => ({ items: access.deliveries.filter((one) => one.key.startsWith(`${name}/`)).slice(0, Number(query.get('limit') ?? 50)).map(deliveryOf), next_cursor: null }))],
    ['POST', /^\/webhooks\/([^/]+)\/deliveries\/([^/]+)\/redeliver$/, hooks(([name, id]) => {
      const one = access.deliveries.find((delivery) => delivery.id === id && delivery.key.startsWith(`${name}/`));
      if (!one) throw new Problem(404, 'instance_not_found', `The webhook "${name}" has no such delivery.`);
      if (one.status === 'running') throw new Problem(409, 'invalid_state', 'The delivery is under way; only one that has ended is delivered again.');
      Object.assign(one, { status: 'running', finished_at: null });
      return { $status: 202, $text: '', $type: 'text/plain' };
    })],
    ['GET', /^\/hooks$/, allow('hooks.write', () => ({ items: access.hooks }))],
    ['PUT', /^\/hooks\/([^/]+)$/, allow('hooks.write', ([name], _, body) => Object.assign(found(access.hooks, 'name', name, 'hook'), body))],
  ];
}
