// What each page shows while something is wrong with the server or with what it asks for. No test waits for a time; each
// waits for what it means.
import './packages.mjs';
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { ASSETS, launch, pagesOf, settled, startMock, watch } from './browser.mjs';

let browser;
let mock;
let page;
let faults;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());
beforeEach(async () => {
  mock = await startMock({ assets: ASSETS });
  page = await browser.context.newPage();
  // The browser itself logs each request that fails, here on purpose.
  faults = await watch(page, new URL(mock.address).origin, [/Failed to load resource/]);
});
afterEach(async () => {
  await page.close();
  await mock.close();
});

const trouble = () => page.locator('main').getByRole('alert');

// The page, the answer that breaks off, and what stands there when the next one comes whole.
const CUT = {
  'workflow-yaml': [/^GET \/workflows\/order\/versions\/3$/, () => page.locator('.cm-content')],
  'instance-dead': [/^GET \/instances\/[^/]+$/, () => page.getByRole('tab', { name: 'Timeline' })],
  failures: [/^GET \/failures\/groups$/, () => page.locator('.line').first()],
  'build-order': [/^GET \/workflows\/order$/, () => page.locator('.cm-content')],
};
for (const [name, [cut, whole]] of Object.entries(CUT)) {
  test(`an answer that breaks off in its middle is trouble to try again, not a broken page: ${name}`, async () => {
    mock.control.cut = cut;
    await page.goto(mock.address + pagesOf(mock.world)[name]);
    await trouble().getByText('The server does not answer.').waitFor();
    assert.deepEqual(faults, []);
    mock.control.cut = null;
    await page.reload();
    await settled(page);
    await whole().waitFor();
    assert.equal(await trouble().count(), 0);
  });
}
