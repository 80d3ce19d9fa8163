// The pictures of the README, made of `ebb serve --demo`: `./dev ui pictures`. The pages are real, and
// the life in them is the demo's, so the pictures change when the UI does. EBB_COMMAND names the ebb command.
import './packages.mjs';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch, settled, watch } from './browser.mjs';
import { startDemo } from './demo.mjs';

const out = process.argv[2];
const EBB = process.env.EBB_COMMAND;
if (!out || !EBB) throw new Error('usage: EBB_COMMAND=build/dev/ebb node tests/e2e/pictures.mjs OUT');
mkdirSync(out, { recursive: true });
const demo = await startDemo(EBB);
const { context, close } = await launch();
let failed = 0;
try {
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height: 800 });
  const faults = await watch(page, new URL(demo.url).origin);
  await page.goto(demo.login);
  await settled(page);
  const api = (path) => page.evaluate(async (path) => (await fetch(`/api/v1${path}`)).json(), path);
  // An order of several steps that was undone: the way back is what nobody else shows.
  const { items } = await api('/instances?workflow=order&status=failed&limit=200');
  let [undone, most] = [items[0], 0];
  for (const row of items) {
    const { steps } = await api(`/instances/${row.id}`);
    if ((steps.compensated ?? 0) > most) [undone, most] = [row, steps.compensated];
  }
  const PICTURES = [['overview', '', 'light'], ['instance', `instances/${undone.id}`, 'light'], ['overview.dark', '', 'dark'], ['instance.dark', `instances/${undone.id}`, 'dark']];
  for (const [name, path, colorScheme] of PICTURES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(demo.url + path);
    await settled(page);
    await page.screenshot({ path: join(out, `${name}.png`) });
  }
  for (const fault of faults) {
    failed = 1;
    console.error(`pictures: ${fault}`);
  }
} finally {
  await close();
  await demo.close();
}
console.log(`-- pictures in ${out}`);
process.exit(failed);
