// Logins to a real `ebb serve` by a real OpenID provider, without a browser: what the two say to each other. The lies that
// no real provider tells are in tests/api/oidc_cases.py.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startEbb } from './ebb.mjs';
import { Browser, reservePort, startProvider } from './provider.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ebb-oidc-'));
let server;
let ebb;
let home;
let issuer;

before(async () => {
  server = await reservePort();
  issuer = `http://127.0.0.1:${server.address().port}`;
  writeFileSync(join(folder, 'secret'), 'a secret of the client', { mode: 0o600 });
  ebb = await startEbb(folder, issuer);
  home = ebb.home;
  await startProvider(server, home);
});

after(async () => {
  await ebb?.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const is_back = (url) => url.startsWith(`${home}api/v1/session/oidc/callback`);
const begin = (browser, name) => browser.consent(`${home}api/v1/session/oidc?return_to=/settings`, name, is_back);
const me = async (browser) => {
  const response = await browser.send(`${home}api/v1/me`, {});
  return { status: response.status, ...(await response.json()) };
};

test('a person logs in, is who the provider says, and logs out', async () => {
  const browser = new Browser();
  const back = await begin(browser, 'ann');
  const done = await browser.send(back);
  assert.equal(done.headers.get('location'), '/settings');
  const seen = await me(browser);
  assert.equal(seen.principal, `user:ann@${issuer}`);
  // All but the subject comes from the userinfo of this provider.
  assert.deepEqual([seen.display_name, seen.groups, seen.role], ['ann of the provider', ['staff', 'finance'], 'operator']);
  // The same callback again: the login is over, and the provider has taken its code back.
  const again = await browser.send(back);
  assert.equal(again.headers.get('location'), '/#login_problem=login_failed');
  assert.equal((await me(browser)).status, 200);
  const out = await browser.send(`${home}api/v1/session`, { method: 'DELETE' });
  const { logout_url } = await out.json();
  assert.ok(logout_url.startsWith(`${issuer}/session/end?`), logout_url);
  assert.equal((await me(browser)).status, 401);
  const asked = await browser.follow(logout_url);
  const [, action] = /action="([^"]+)"/.exec(await asked.response.text());
  const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(await (await browser.follow(logout_url)).response.text());
  const ended = await browser.follow(new URL(action, asked.url).href, (url) => url === home, { form: { xsrf, logout: 'yes' } });
  assert.equal(ended.next, home);
});

test('the provider accepts a code only with the verifier of the browser that began', async () => {
  const victim = new Browser();
  const attacker = new Browser();
  const stolen = new URL(await begin(victim, 'ann')).searchParams.get('code');
  const own = new URL(await begin(attacker, 'mallory'));
  own.searchParams.set('code', stolen);
  const done = await attacker.send(own.href, { headers: { cookie: [...attacker.cookies.get(new URL(home).host)].map((pair) => pair.join('=')).join('; ') } });
  assert.equal(done.status, 401);
  assert.match((await done.json()).detail, /invalid_grant/);
});

test('a state of another browser is refused', async () => {
  const stranger = new Browser();
  const done = await stranger.send(await begin(new Browser(), 'ann'));
  assert.equal(done.headers.get('location'), '/#login_problem=login_failed');
  assert.equal((await me(stranger)).status, 401);
});

test('a person who says no is led to the login page', async () => {
  const browser = new Browser();
  const asked = await browser.follow(`${home}api/v1/session/oidc`, is_back);
  const [, abort] = /href="([^"]+\/abort)"/.exec(await asked.response.text());
  const back = (await browser.follow(new URL(abort, asked.url).href, is_back)).next;
  assert.equal(new URL(back).searchParams.get('error'), 'access_denied');
  assert.equal((await browser.send(back)).headers.get('location'), '/#login_problem=login_denied');
});

test('new keys of the provider are found, of another kind, too', async () => {
  await startProvider(server, home, { kid: 'second', alg: 'ES256' });
  const browser = new Browser();
  const done = await browser.send(await begin(browser, 'ann'));
  assert.equal(done.headers.get('location'), '/settings');
});

test('without the provider only logins by it do not work', async () => {
  server.removeAllListeners('request');
  server.on('request', (_, response) => response.destroy());
  const browser = new Browser();
  // The description is still known, so the browser is led there; the provider is needed when it comes back.
  const known = await browser.send(`${home}api/v1/session/oidc`);
  const state = new URL(known.headers.get('location')).searchParams.get('state');
  const done = await browser.send(`${home}api/v1/session/oidc/callback?${new URLSearchParams({ state, code: 'x', iss: issuer })}`);
  assert.equal(done.headers.get('location'), '/#login_problem=provider_unavailable');
  assert.equal((await fetch(`${home}livez`)).status, 200);
  assert.equal((await fetch(`${home}api/v1/session`)).status, 200);
});
