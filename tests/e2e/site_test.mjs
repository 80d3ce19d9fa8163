// The documentation site: every link inside of it leads somewhere and nothing comes from another server; in a real browser, the
// search finds what a reader would look for, and pictures are drawn.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch, SIZES, watch } from './browser.mjs';

const SITE = process.env.EBB_SITE ?? fileURLToPath(new URL('../../build/docs/site', import.meta.url));
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png' };
let server, origin, browser;

function serve(request, response) {
  const path = join(SITE, normalize(decodeURIComponent(new URL(request.url, 'http://site').pathname)));
  if (!path.startsWith(SITE) || !existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path));
}

function pages(folder = '') {
  return readdirSync(join(SITE, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['api', 'assets', 'source'].includes(path) ? [] : pages(path);
    return extname(path) === '.html' && path !== '404.html' ? [path] : [];
  });
}

before(async () => {
  server = createServer(serve).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

/** What the page's tags lead to or load, and the ids that a link can lead to. */
function read(path) {
  const html = readFileSync(join(SITE, path), 'utf8').replaceAll('&amp;', '&');
  const links = [...html.matchAll(/<(a|img|script|link)\b[^>]*?\s(?:href|src)="([^"]+)"/g)].map(([, tag, target]) => ({ tag, target }));
  return { links, ids: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)) };
}

test('no page has a dead link or loads anything from another server', () => {
  const all = new Map(pages().map((path) => [path, read(path)]));
  assert.ok(all.size > 40, `${all.size} pages`);
  const faults = [];
  for (const [path, { links }] of all) {
    for (const { tag, target } of links) {
      if (/^[a-z]+:/.test(target)) {
        if (tag !== 'a' && !target.startsWith('data:')) faults.push(`${path} loads ${target}`);
        continue;
      }
      const [file, id] = target.split('#').map(decodeURIComponent);
      let found = normalize(join(path, '..', file || path.split('/').at(-1)));
      if (existsSync(join(SITE, found)) && statSync(join(SITE, found)).isDirectory()) found = join(found, 'index.html');
      if (!existsSync(join(SITE, found))) faults.push(`${path}: ${target}`);
      else if (id && all.has(found) && !all.get(found).ids.has(id)) faults.push(`${path}: ${target}`);
    }
  }
  assert.deepEqual(faults, []);
});

test('the search finds a page by a word of its text', async () => {
  const page = await browser.context.newPage();
  const faults = await watch(page, origin);
  await page.goto(`${origin}/index.html`);
  await page.locator('input[name=query]').click();
  await page.locator('input[name=query]').fill('idempotency');
  await page.locator('.md-search-result__link').first().waitFor();
  assert.match(await page.locator('.md-search-result__list').innerText(), /idempoten/i);
  assert.deepEqual(faults, []);
});

test('pictures that pages hold as text are drawn', async () => {
  const page = await browser.context.newPage();
  const faults = await watch(page, origin);
  for (const path of ['reference/pictures.html', 'semantics.html']) {
    await page.goto(`${origin}/${path}`);
    await page.waitForFunction(() => {
      const all = [...document.querySelectorAll('.diagram')];
      return all.length > 0 && all.every((one) => one.querySelector('svg'));
    });
  }
  assert.deepEqual(faults, []);
});

test('the pages fit a phone', async () => {
  const page = await browser.context.newPage();
  await page.setViewportSize(SIZES.phone);
  for (const path of ['index.html', 'reference/cli.html', 'reference/definition.html', 'adr/0001-stored-state.html']) {
    await page.goto(`${origin}/${path}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${path} is ${wide} pixels too wide`);
  }
});
