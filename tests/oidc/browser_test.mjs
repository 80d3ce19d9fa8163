// The login page in a real browser with a real OpenID provider: from a page of ours to the provider and back to it.
import '../e2e/packages.mjs';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { reservePort, startProvider } from './provider.mjs';
import { startEbb } from './ebb.mjs';
import { chromium } from '../../ui/node_modules/playwright-core/index.mjs';

const folder = mkdtempSync(join(tmpdir(), 'ebb-oidc-'));
let server;
let ebb;
let browser;

before(async () => {
  server = await reservePort();
  writeFileSync(join(folder, 'secret'), 'a secret of the client', { mode: 0o600 });
  ebb = await startEbb(folder, `http://127.0.0.1:${server.address().port}`);
  await startProvider(server, ebb.home);
  browser = await chromium.launch({ executablePath: process.env.EBB_CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
});

after(async () => {
  await browser?.close();
  await ebb?.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

async function open(path) {
  const context = await browser.newContext({ locale: 'en-US' });
  const page = await context.newPage();
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) troubles.push(message.text());
  });
  await page.goto(`${ebb.home}${path}`);
  return { context, page, troubles };
}

test('the link on the login page leads to the provider and back to the page that was asked for', async () => {
  const { context, page, troubles } = await open('instances?status=failed');
  await page.getByRole('link', { name: 'Log in with Example ID' }).click();
  await page.getByPlaceholder('Enter any login').fill('ann');
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${ebb.home}instances?status=failed`);
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL((url) => url.pathname === '/session/end');
  assert.deepEqual(troubles, []);
  await context.close();
});

test('a person who says no sees the login page, which says so', async () => {
  const { context, page, troubles } = await open('');
  await page.getByRole('link', { name: 'Log in with Example ID' }).click();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByRole('alert').filter({ hasText: 'The login provider has refused the login.' }).waitFor();
  assert.equal(new URL(page.url()).hash, '');
  assert.deepEqual(troubles, []);
  await context.close();
});
