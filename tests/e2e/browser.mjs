// Starts the mock and Chromium for a test, and watches each page: no error on the console, no violation of the
// Content-Security-Policy, no request to another origin.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { groupOf, startMock } from '../../ui/mock/server.mjs';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

export const ASSETS = join(process.env.EBB_UI_OUT ?? fileURLToPath(new URL('../../build/ui', import.meta.url)), 'dist');
export const AXE = require.resolve('axe-core/axe.min.js');
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', '--font-render-hinting=none'];

export const SIZES = { desktop: { width: 1360, height: 860 }, folded: { width: 900, height: 700 }, phone: { width: 390, height: 844 } };

export async function launch(locale = 'en-US', more = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-chromium-'));
  const executablePath = process.env.EBB_CHROMIUM || '/usr/bin/chromium';
  const context = await chromium.launchPersistentContext(folder, { executablePath, headless: true, args: FLAGS, timezoneId: 'UTC', locale, viewport: SIZES.desktop, reducedMotion: "reduce", timeout: 300_000, ...more });
  // A loaded machine is slow, and no wait here means a time. EBB_E2E_TIMEOUT, in ms, ends a run by hand sooner.
  context.setDefaultTimeout(Number(process.env.EBB_E2E_TIMEOUT ?? 300_000));
  const close = async () => {
    await context.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { context, close };
}

/** What must never happen on any page; `allow` are patterns of console messages that a test provokes. */
export async function watch(page, origin, allow = []) {
  const faults = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !allow.some((pattern) => pattern.test(message.text()))) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) faults.push(`request to ${url.origin}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  return faults;
}

/** The page has its data: no skeleton any more, and the fonts are there. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('main .skeleton, main [data-pending]'));
  await page.evaluate(() => document.fonts.ready);
}

/** The page is drawn with the size and the colors that it has now. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** WCAG 2.2 AA. */
export const RULES = { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] } };

/** What axe-core, which the page must have, finds. */
export const violationsOf = (page, rules = RULES) => page.evaluate(async (rules) => {
  const { violations } = await globalThis.axe.run(document, rules);
  return violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.failureSummary?.split('\n')[1]?.trim()})`).join('; ')}`);
}, rules);

export { startMock };

/** The pages by name, for an instance of each kind of the mock's world. */
export function pagesOf(world) {
  const by = (test) => world.instances.find(test)?.id ?? 'none';
  const dead = by((one) => one.status === 'dead_letter' && one.workflow === 'order' && one.steps.some((step) => step.node === 'charge' && step.attempts > 2));
  const failed = by((one) => one.status === 'failed' && one.history.filter((event) => event.type === 'step_compensated').length > 1);
  const waiting = by((one) => one.detail.waiting_for[0]?.kind === 'decision' && one.workflow === 'order');
  const completed = by((one) => one.status === 'completed' && one.workflow === 'order');
  const group = dead === 'none' ? '' : groupOf(world.instances.find((one) => one.id === dead));
  // Two runs of one workflow: one that was undone, and one that completed.
  const undone = by((one) => one.status === 'failed' && one.workflow === 'order' && one.history.some((event) => event.type === 'step_compensated'));
  return { ...pagesFor({ dead, failed, waiting, completed }), compare: `instances/${undone}/compare/${completed}`, 'compare-timeline': `instances/${undone}/compare/${completed}?tab=timeline`, 'compare-graph': `instances/${undone}/compare/${completed}?tab=graph`, 'compare-data': `instances/${undone}/compare/${completed}?tab=data`, 'failures-group': `failures?group=${group}` };
}

/** The pages by name, for one instance of each kind. */
export function pagesFor({ dead, failed, waiting, completed, step = 'charge' }) {
  return {
    overview: '', instances: 'instances', 'instances-filtered': 'instances?q=status:dead_letter%20workflow:order', 'instances-columns': 'instances?q=status:dead_letter&cols=status,workflow,key,waits,error,ended',
    'instance-timeline': `instances/${failed}`, 'instance-graph': `instances/${failed}?tab=graph`, 'instance-step': `instances/${dead}?tab=graph&step=${step}`,
    'instance-dead': `instances/${dead}`, 'instance-waiting': `instances/${waiting}`, 'instance-steps': `instances/${dead}?tab=steps&step=${step}`,
    'instance-history': `instances/${failed}?tab=history&seq=4`, 'instance-data': `instances/${completed}?tab=data`, 'instance-related': `instances/${failed}?tab=related`, 'instance-raw': `instances/${dead}?tab=raw`, compare: `instances/${failed}/compare/${completed}`,
    failures: 'failures', decisions: 'decisions', workflows: 'workflows', workflow: 'workflows/order', 'workflow-activity': 'workflows/order?tab=activity', 'workflow-retention': 'workflows/order?tab=retention', 'workflow-yaml': 'workflows/order?tab=yaml', 'workflow-versions': 'workflows/order?tab=versions',
    build: 'build', 'build-order': 'build/order?node=charge', rehearsal: 'build/order?rehearse=1', workers: 'workers', queues: 'queues', bulk: 'bulk', docs: 'docs', 'docs-start': 'docs?op=startInstance', settings: 'settings', nothing: 'nowhere',
    'settings-grants': 'settings?tab=grants', 'settings-projects': 'settings?tab=projects', 'settings-tokens': 'settings?tab=tokens', 'settings-sessions': 'settings?tab=sessions', 'settings-audit': 'settings?tab=audit', 'settings-definitions': 'settings?tab=definitions', 'settings-config': 'settings?tab=config',
    'bulk-running': 'bulk/019e2b6c-5a10-7c3e-9f00-000000000014', 'bulk-canary': 'bulk/019e2b6c-5a10-7c3e-9f00-000000000013', 'bulk-ended': 'bulk/019e2b6c-5a10-7c3e-9f00-000000000012',
    notifications: 'notifications', 'notifications-one': 'notifications?at=pager',
  };
}
