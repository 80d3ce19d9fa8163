// Pictures of every page in light, dark and phone size: `./dev ui shots [PAGE...]`. They show `ebb serve --demo` of the
// command that EBB_COMMAND names, or without one the mock. With
// EBB_SHOTS_LOCALE=de (or pt, ru), the pictures are those of a browser in that language, in a folder of its name.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { messagesOf } from './messages.mjs';
import { launch, pagesFor, pagesOf, settled, SIZES, startMock, watch } from './browser.mjs';
import { startDemo } from './demo.mjs';

const locale = process.env.EBB_SHOTS_LOCALE || 'en';
const out = join(process.env.EBB_SHOTS ?? fileURLToPath(new URL('../../ui/shots', import.meta.url)), locale === 'en' ? '' : locale);
mkdirSync(out, { recursive: true });
const assets = join(process.env.EBB_UI_OUT ?? fileURLToPath(new URL('../../build/ui', import.meta.url)), 'dist');
const mock = process.env.EBB_COMMAND ? undefined : await startMock({ assets });
const demo = mock ? undefined : await startDemo(process.env.EBB_COMMAND);
const address = mock?.address ?? demo.url;
const { context, close } = await launch(locale);
const t = await messagesOf(locale);
const wanted = process.argv.slice(2);
const LOOKS = [['light', 'light', SIZES.desktop], ['dark', 'dark', SIZES.desktop], ['phone', 'light', SIZES.phone]];
let failed = 0;
const all = mock ? pagesOf(mock.world) : await demoPages();

/** The pages by name, as those of the mock's world, for instances of the demo. */
async function demoPages() {
  const page = await context.newPage();
  await page.goto(demo.login);
  await settled(page);
  const api = (path) => page.evaluate(async (path) => (await fetch(`/api/v1${path}`)).json(), path);
  const detailed = async (query) => Promise.all((await api(`/instances?limit=200&${query}`)).items.slice(0, 60).map((row) => api(`/instances/${row.id}`)));
  const most = (rows, value) => rows.reduce((best, row) => (value(row) > value(best) ? row : best), rows[0]);
  const failed = most(await detailed('workflow=order&status=failed'), (row) => row.steps.compensated ?? 0).id;
  const dead = most(await detailed('workflow=order&status=dead_letter'), (row) => row.steps.completed ?? 0);
  const waiting = (await detailed('status=running')).find((row) => row.waiting_for[0]?.kind === 'decision')?.id;
  const completed = (await api('/instances?workflow=order&status=completed&limit=1')).items[0].id;
  await page.close();
  return pagesFor({ failed, dead: dead.id, step: dead.error.step, waiting, completed });
}
// A click for what has no address of its own.
const ACTS = {
  columns: ['instances', (page) => page.locator('summary', { hasText: t.instances.columns }).first().click()],
  'failures-open': ['failures', (page) => page.locator('.line').first().click()],
  'bulk-all': ['instances?q=status:dead_letter,failed', async (page) => {
    await page.getByRole('button', { name: t.bulks.button, exact: true }).click();
    await page.locator('dialog .which').waitFor();
  }],
  'bulk-none': ['instances?q=status:completed', async (page) => {
    await page.getByRole('button', { name: t.bulks.button, exact: true }).click();
    await page.getByText(t.bulks.noneAble).waitFor();
  }],
  'act-cancel': [all['instance-waiting'], (page) => page.getByRole('button', { name: t.act.cancel.name, exact: true }).click()],
  'act-retry': [all['instance-dead'], (page) => page.getByRole('button', { name: t.act.requeue.name, exact: true }).click()],
  'rehearsal-failed': ['build/order?rehearse=1', async (page) => {
    await page.getByLabel(t.rehearsal.endOf('ship'), { exact: true }).selectOption('fail_for_good');
    await page.getByText(t.rehearsal.undone(0).split('(')[0]).waitFor();
  }],
  'grant-new': ['settings?tab=grants', async (page) => {
    await page.getByRole('button', { name: t.grants.fresh, exact: true }).click();
    await page.getByLabel(t.grants.subject, { exact: true }).fill('ben');
  }],
  'project-change': ['settings?tab=projects', (page) => page.getByRole('button', { name: t.projects.fresh, exact: true }).click()],
  'audit-row': ['settings?tab=audit', (page) => page.locator('[role=option]').nth(1).click({ position: { x: 4, y: 8 } })],
  'webhook-new': ['notifications', (page) => page.getByRole('button', { name: t.notifications.fresh }).first().click().then(() => page.getByLabel(t.notifications.only).check())],
  palette: ['', (page) => page.keyboard.press('Control+k')],
  start: ['workflows/order', (page) => page.getByRole('button', { name: t.start.button, exact: true }).click()],
  'decision-open': ['decisions', (page) => page.locator('.item').nth(2).click()],
  'workers-matrix': ['workers', (page) => page.getByRole('button', { name: t.common.show, exact: true }).click()],
  selection: ['instances', async (page) => {
    for (const i of [1, 2]) await page.locator('tbody input').nth(i).check();
  }, 'desktop'],
};
for (const [look, colorScheme, viewport] of LOOKS) {
  const page = await context.newPage();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const faults = await watch(page, new URL(address).origin, [/404/]);
  const jobs = [...Object.entries(all).map(([name, path]) => [name, path]), ...Object.entries(ACTS).map(([name, [path, act, only]]) => [name, path, act, only])];
  for (const [name, path, act, only] of jobs) {
    if (wanted.length && !wanted.some((one) => name.startsWith(one))) continue;
    if (only === 'desktop' && look === 'phone') continue;
    try {
      await page.goto(address + path);
      await settled(page);
      if (act) {
        await act(page);
        await page.waitForTimeout(250);
      }
      await page.screenshot({ path: join(out, `${name}.${look}.png`), fullPage: !act && look === 'phone' });
    } catch (error) {
      failed += 1;
      console.error(`shots: ${name} (${look}): ${error.message.split('\n')[0]}`);
    }
    while (faults.length) console.error(`shots: ${name} (${look}): ${faults.shift()}`);
  }
  await page.close();
}
await close();
await (mock ?? demo).close();
console.log(`-- pictures in ${out}`);
process.exit(failed ? 1 : 0);
