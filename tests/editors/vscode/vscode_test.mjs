// The packed extension in a real VS Code in a real browser: once inside its extension host with the real API, once with the
// keyboard and the mouse. The picture of docs/how-to/editors.md is made here: EBB_PICTURE names the file to write.
// A file is run by itself and not by `node --test`, which would hide its exit status 77 (skipped).
import '../../e2e/packages.mjs';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launch } from '../../e2e/browser.mjs';
import { Code } from './code.mjs';
import { command, openPage, pictureFrame, waitFor, waitForLine } from './workbench.mjs';

const HOST = fileURLToPath(new URL('./host/index.js', import.meta.url));
const ORDER = `workflow: order
deadline: 1h
steps:
  - step: reserve
    timout: 5s
    compensate: release
  - step: charge
    input: {id: "\${ steps.reserve.output.id }"}
`;
const SHOP = readFileSync(new URL('./shop.ebb.yaml', import.meta.url), 'utf8');
const FILES = {
  'order.ebb.yaml': ORDER,
  'shop.ebb.yaml': SHOP,
  'refund.yaml': 'workflow: refund\nsteps:\n  - step: pay_back\n    handler: pay\n',
  'later.ebb.yaml': 'workflow: later\ndeadline: 1h\nsteps:\n  - step: a\n    timout: 5s\n',
  'machine.yaml': 'services:\n  web: {image: web}\n',
};

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function hostResult(code) {
  const page = await openPage(browser, code.url({ test: HOST }));
  let result;
  while (!(result = code.result())) await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  await page.close();
  return result;
}

test('in the extension host of a trusted workspace', async (t) => {
  const code = await Code.start({ files: FILES, isTrusted: true });
  try {
    const { version, results } = await hostResult(code);
    assert.equal(version, '1.100.3');
    assert.ok(results.length >= 10);
    for (const { name, ok, error } of results) await t.test(name, () => assert.ok(ok, error));
    assert.deepEqual(code.starts().map((one) => one.split(' ')[0]), ['lsp', 'validate']);
  } finally {
    await code.stop();
  }
});

test('in the extension host of a workspace with handlers in C++', async (t) => {
  const files = {
    'order.ebb.yaml': 'workflow: order\nsteps:\n  - step: pay\n    handler: charge\n  - step: pack\n',
    'handlers.cpp': '#include <ebb/ebb.h>\n\nvoid add(ebb::HandlerRegistry& handlers) {\n    handlers.add("charge", charge);\n}\n',
  };
  const code = await Code.start({ files, isTrusted: true });
  try {
    const { results } = await hostResult(code);
    assert.ok(results.length >= 5);
    for (const { name, ok, error } of results) await t.test(name, () => assert.ok(ok, error));
  } finally {
    await code.stop();
  }
});

test('in a workspace that is not trusted, no program is started', async (t) => {
  const code = await Code.start({ files: FILES, isTrusted: false });
  try {
    const { isTrusted, results } = await hostResult(code);
    assert.equal(isTrusted, false);
    for (const { name, ok, error } of results) await t.test(name, () => assert.ok(ok, error));
    assert.deepEqual(code.starts(), []);
  } finally {
    await code.stop();
  }
});

test('the picture leads to the lines, the lines lead to the picture, and it follows the text', async () => {
  const settings = { 'workbench.activityBar.location': 'hidden', 'editor.minimap.enabled': false, 'workbench.colorTheme': 'Default Light Modern', 'breadcrumbs.enabled': false };
  const code = await Code.start({ files: FILES, isTrusted: true, settings });
  try {
    const page = await openPage(browser, code.url({ file: 'shop.ebb.yaml' }));
    await page.locator('.tab.active').filter({ hasText: 'shop.ebb.yaml' }).waitFor();
    await page.locator('.view-line', { hasText: 'workflow' }).first().click();
    await page.locator('.editor-actions a[aria-label^="Ebb: Show Diagram"], .editor-actions a[aria-label^="Show Diagram"]').first().click();
    const picture = await pictureFrame(page);
    const node = (name) => picture.locator(`g[data-node="${name}"]`);

    // To the line.
    await node('ship').click();
    const line = SHOP.split('\n').findIndex((one) => one.includes('step: ship')) + 1;
    await waitForLine(page, line);
    await picture.locator('g.here[data-node="ship"]').waitFor();

    // And back: the cursor goes up, and another node is marked.
    await page.locator('.editor-instance .view-lines').first().click({ position: { x: 200, y: 10 } });
    await page.keyboard.press('Control+G');
    await page.keyboard.type(String(SHOP.split('\n').findIndex((one) => one.includes('step: charge')) + 1));
    await page.keyboard.press('Enter');
    await picture.locator('g.here[data-node="charge"]').waitFor();
    assert.equal(await picture.locator('g.here').count(), 1);

    // The arrows go from node to node, and / finds one.
    await node('reserve').focus();
    await page.keyboard.press('ArrowDown');
    await waitFor(page, () => picture.locator('g[data-node]:focus').count().then((count) => count === 1));
    assert.notEqual(await picture.locator('g[data-node]:focus').getAttribute('data-node'), 'reserve');
    await page.keyboard.press('/');
    await page.keyboard.type('SHI');
    await picture.locator('g.found[data-node="ship"]').waitFor();
    await page.keyboard.press('Escape');
    await picture.locator('g[data-node="ship"]:focus').waitFor();

    // From the keyboard.
    await node('reserve').focus();
    await page.keyboard.press('Enter');
    await picture.locator('g.here[data-node="reserve"]').waitFor();

    // It follows the text, valid or not. A hostile name is text.
    await page.keyboard.press('Control+End');
    await page.keyboard.type('  - step: "<img src=x onerror=alert(1)>"\nhandler: ship');
    await picture.locator('text', { hasText: '<img' }).first().waitFor();
    assert.equal(await picture.locator('img').count(), 0);
    await picture.locator('#state', { hasText: 'problem' }).waitFor();

    await command(page, 'File: Revert File');
    await picture.locator('#state').waitFor({ state: 'hidden' });
    await makePicture(page, picture);
  } finally {
    await code.stop();
  }
});

/** The text with a problem and its explanation, beside the picture. */
async function makePicture(page, picture) {
  if (!process.env.EBB_PICTURE) return;
  await page.locator('.view-line', { hasText: 'timeout: 30s' }).locator('span', { hasText: 'timeout' }).last().dblclick();
  await page.keyboard.type('timout');
  await page.keyboard.press('Escape');
  await picture.locator('#state', { hasText: 'problem' }).waitFor();
  await page.locator('.squiggly-error').first().waitFor();
  await page.locator('.view-line', { hasText: 'timout' }).locator('span', { hasText: 'timout' }).last().hover();
  await page.locator('.monaco-hover-content', { hasText: 'timeout' }).first().waitFor();
  // It is faded in.
  const hovers = page.locator('.monaco-hover').filter({ hasText: 'timeout' });
  await waitFor(page, () => hovers.first().evaluate((one) => one.getAnimations({ subtree: true }).length === 0 && getComputedStyle(one).opacity === '1'));
  await page.screenshot({ path: process.env.EBB_PICTURE });
}
