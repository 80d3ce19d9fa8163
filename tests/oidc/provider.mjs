// A certified OpenID provider (npm's oidc-provider) on a free port of loopback, with the people of a test: any name logs in
// with any password. EBB_OIDC_PACKAGES is where fetch.mjs has put it.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const packages = process.env.EBB_OIDC_PACKAGES;
if (!packages) throw new Error('EBB_OIDC_PACKAGES names the folder that fetch.mjs has filled.');

const key = (kid, alg) => {
  const made = alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...made.privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
};

/** Its port is known before its client is: the addresses of both servers depend on each other. */
export async function reservePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** `home`: the URL of the ebb server. `server`: of reservePort. */
export async function startProvider(server, home, { kid = 'first', alg = 'RS256' } = {}) {
  const { default: Provider } = await import(pathToFileURL(join(packages, 'node_modules/oidc-provider/lib/index.js')));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'ebb',
      client_secret: 'a secret of the client',
      redirect_uris: [`${home}api/v1/session/oidc/callback`],
      post_logout_redirect_uris: [home],
      id_token_signed_response_alg: alg,
    }],
    jwks: { keys: [key(kid, alg)] },
    pkce: { required: () => true, methods: ['S256'] },
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    cookies: { keys: ['of this test'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id} of the provider`, groups: ['staff', 'finance'], email: `${id}@example.com` }),
    }),
  });
  const answer = provider.callback();
  server.removeAllListeners('request');
  server.on('request', answer);
  return issuer;
}

/** A browser without a screen: cookies by host, redirects by hand. */
export class Browser {
  cookies = new Map();

  /** One request; follows nothing. */
  async send(url, { form, ...more } = {}) {
    const { host } = new URL(url);
    const jar = this.cookies.get(host) ?? new Map();
    this.cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin' };
    const body = form && new URLSearchParams(form);
    const response = await fetch(url, { method: form ? 'POST' : 'GET', body, headers, redirect: 'manual', ...more });
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set);
      if (value === '' || /expires=Thu, 01 Jan 1970|Max-Age=0/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until `stop` says that the next one is not to be followed; the last answer and where it was. */
  async follow(url, stop = () => false, options = {}) {
    let response = await this.send(url, options);
    for (let hops = 0; hops < 20; ++hops) {
      const location = response.headers.get('location');
      if (!location) return { url, response };
      const next = new URL(location, url).href;
      if (stop(next)) return { url, next, response };
      url = next;
      response = await this.send(url);
    }
    throw new Error(`more than 20 redirects, the last to ${url}`);
  }

  /** What a person does at the provider: a name, and yes. The URL to which the provider leads back. */
  async consent(url, name, is_back) {
    let now = await this.follow(url, is_back);
    for (const form of [{ prompt: 'login', login: name, password: 'any' }, { prompt: 'consent' }]) {
      if (now.next) break;
      const [, action] = /action="([^"]+)"/.exec(await now.response.text());
      now = await this.follow(new URL(action, now.url).href, is_back, { form });
    }
    return now.next;
  }
}
