// Who is asking, what they may do, and the few figures that every page shows.
import { call, connection, get, Problem, type AwaitedDecision, type Me, type Server, type Stats } from '../api/client';
import { ask } from '../api/first';
import { holdStream, live, reconnect, subscribe } from '../api/live.svelte';
import { clock } from './clock.svelte';
import { OVERVIEW_FIRST, rememberFirst } from './overview';
import { route } from './router.svelte';

let me = $state.raw<Me | undefined>();
let server = $state.raw<Server | undefined>();
let stats = $state.raw<Stats | undefined>();
let decisions = $state.raw<{ items: AwaitedDecision[]; hasMore: boolean } | undefined>();
let needs_login = $state(false);
let is_silent = $state(false);
let silent_since = $state(0);
let problem = $state.raw<Problem | undefined>();
let login_problem = $state('');

export const session = {
  get me() {
    return me;
  },
  get server() {
    return server;
  },
  get stats() {
    return stats;
  },
  get decisions() {
    return decisions;
  },
  get needsLogin() {
    return needs_login;
  },
  /** The server does not answer: what is shown stays. */
  get isSilent() {
    return is_silent;
  },
  /** It does not answer, or will soon not: acts are disabled. */
  get isAway() {
    return is_silent || live.state === 'draining';
  },
  get silentSince() {
    return silent_since;
  },
  get problem() {
    return problem;
  },
  /** The code of what went wrong with a login by a provider, which has led the browser back here. */
  get loginProblem() {
    return login_problem;
  },
};

export const can = (permission: string) => me?.permissions.includes(permission) ?? false;

connection.onAnswer = () => {
  if (is_silent) reconnect();
  is_silent = false;
};
connection.onSilence = () => {
  if (!is_silent) silent_since = Date.now();
  is_silent = true;
};
connection.onUnauthenticated = () => {
  needs_login = true;
};
// What was allowed may not be any more: the pages and acts that are offered follow.
connection.onForbidden = throttled(() => {
  if (me) void get<Me>('/me').then((now) => (me = now), () => undefined);
}, 5000);

/** Runs `action` at once and then at most every `ms` while it is asked for. `isFresh`: it counts as just done. A stream
 * begins with the word that something may have changed, so what has just been read is not read again. */
export function throttled(action: () => void, ms: number, isFresh = false): () => void {
  let last = isFresh ? Date.now() : 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (waiting) return;
    const rest = last + ms - Date.now();
    waiting = setTimeout(() => {
      waiting = undefined;
      last = Date.now();
      action();
    }, Math.max(0, rest));
  };
}

async function loadStats() {
  if (!can('stats.read')) return;
  stats = await get<Stats>('/stats').catch(() => stats);
}

async function loadDecisions() {
  if (!can('decisions.read')) return;
  type Page = { items: AwaitedDecision[]; next_cursor: string | null };
  const page = await get<Page>('/decisions?limit=100').catch(() => undefined);
  if (page) decisions = { items: page.items, hasMore: page.next_cursor !== null };
}

/** A login link's secret is in the fragment, which no server and no log sees. It is used once and taken out at once. */
async function useLoginLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  const secret = given.get('login');
  login_problem = given.get('login_problem') ?? '';
  if (login_problem) history.replaceState(null, '', location.pathname + location.search);
  if (!secret) return;
  history.replaceState(null, '', location.pathname + location.search);
  await login(secret);
}

export async function login(secret: string) {
  me = (await call<Me>('/session', { method: 'POST', body: { login: secret } })).data;
  needs_login = false;
}

export async function logout() {
  rememberFirst([]);
  const ended = (await call<{ logout_url: string } | undefined>('/session', { method: 'DELETE' })).data;
  // The provider that has made the session has one of its own.
  if (ended?.logout_url) location.assign(ended.logout_url);
  else location.reload();
}

export async function startSession() {
  const release = holdStream();
  try {
    await useLoginLink();
  } catch (error) {
    problem = error as Problem;
    needs_login = true;
  }
  await load();
  release();
}

/** The page that opens is still being built. */
function askForOverview() {
  const first = Object.entries(OVERVIEW_FIRST).flatMap(([permission, path]) => (can(permission) ? [path] : []));
  rememberFirst(first);
  if (route.parts.length === 0) first.forEach(ask);
}

export async function load() {
  try {
    const is_first = !me;
    const [person, program] = await Promise.all([get<Me>('/me'), get<Server>('/')]);
    me = person;
    server = program;
    // Before what is shown follows, and asks itself.
    if (is_first) askForOverview();
    clock.sync(program.time);
    problem = undefined;
    needs_login = me.kind === 'anonymous' && me.permissions.length === 0;
  } catch (error) {
    if (!needs_login) problem = error instanceof Problem ? error : new Problem(0, 'internal', String(error));
    if ((error as Problem).isPassing) setTimeout(load, 2000 + 1000 * Math.random());
    return;
  }
  await Promise.all([loadStats(), loadDecisions()]);
  follow();
}

let is_following = false;
function follow() {
  if (is_following) return;
  is_following = true;
  subscribe('stats', throttled(loadStats, 2000, true));
  subscribe('decisions', throttled(loadDecisions, 2000, true));
  // While the stream is away the server may be, too: ask now and then, so that the banner is right and goes by itself.
  setInterval(() => {
    if (live.state === 'lost' || live.state === 'draining' || is_silent) void get('/').catch(() => undefined);
  }, 5000);
}
