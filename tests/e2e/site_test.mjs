// The documentation site in a real browser: every page opens without an error or a request to another server, every link inside
// of the site leads somewhere, and the search finds what a reader would look for.
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

test('every page opens, asks no other server, and has no dead link', async () => {
  const page = await browser.context.newPage();
  const faults = await watch(page, origin);
  const all = pages();
  assert.ok(all.length > 40, `${all.length} pages`);
  const dead = [];
  for (const path of all) {
    await page.goto(`${origin}/${path}`, { waitUntil: 'domcontentloaded' });
    const links = await page.$$eval('a[href], img[src]', (found) => found.map((one) => one.href || one.src));
    for (const link of new Set(links)) {
      const url = new URL(link);
      if (url.origin !== origin) continue;
      const target = join(SITE, decodeURIComponent(url.pathname));
      const file = existsSync(target) && statSync(target).isDirectory() ? join(target, 'index.html') : target;
      if (!existsSync(file)) dead.push(`${path}: ${link}`);
      else if (url.hash.length > 1 && extname(file) === '.html' && !readFileSync(file, 'utf8').includes(`"${decodeURIComponent(url.hash.slice(1))}"`)) dead.push(`${path}: ${link}`);
    }
  }
  assert.deepEqual(dead, []);
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
    await page.waitForFunction(() => [...document.querySelectorAll('.diagram')].every((one) => one.querySelector('svg')));
    assert.ok((await page.locator('.diagram svg').count()) > 0, path);
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
