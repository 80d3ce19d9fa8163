// What a person does in the window of VS Code: opens it, gives commands, answers its questions.

/** A page that asks only its own VS Code: galleries and other services are not reached. */
export async function openPage(browser, url) {
  const page = await browser.context.newPage();
  await page.setViewportSize({ width: 1360, height: 800 });
  await page.route((target) => target.hostname !== '127.0.0.1' && !target.hostname.endsWith('.localhost') && target.protocol.startsWith('http'), (route) => route.abort());
  await page.goto(url);
  await page.waitForSelector('.monaco-workbench');
  return page;
}

export async function command(page, words) {
  await page.keyboard.press('F1');
  await page.waitForSelector('.quick-input-widget input');
  await page.keyboard.type(words);
  await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: words }).first().waitFor();
  await page.keyboard.press('Enter');
}

/** The frame of the picture: a webview is a frame within a frame. */
export async function pictureFrame(page) {
  const inner = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  await inner.locator('svg.ebb-diagram').waitFor();
  return inner;
}

export async function waitFor(page, condition) {
  while (!(await condition())) await page.evaluate(() => new Promise((done) => setTimeout(done, 20)));
}

/** Picks an entry of a list of choices. */
export const pick = (page, words) => page.locator('.quick-input-widget:not([style*="none"]) .monaco-list-row').filter({ hasText: words }).first().click();

/** The question with this title, which is answered by a text. */
export const question = (page, title) => page.locator('.quick-input-widget:not([style*="none"])').filter({ hasText: title });

/** The question with this sentence, which is answered by a button. */
export const dialog = (page, sentence) => page.locator('.monaco-dialog-box').filter({ hasText: sentence });

/** Answers the question with this title. */
export async function answer(page, title, text) {
  await question(page, title).waitFor();
  const input = page.locator('.quick-input-widget input:not([type="checkbox"])').first();
  await input.fill(text);
  await input.press('Enter');
}

/** Presses a button of the question that must be answered, whose sentence is checked. */
export async function confirm(page, sentence, button) {
  const box = dialog(page, sentence);
  await box.waitFor();
  await box.getByRole('button', { name: button, exact: true }).click();
  await box.waitFor({ state: 'detached' });
}

/** The lines of the cursors of all text editors. The status bar names one only while a text editor has the focus, and not a page. */
const cursorLines = (page) => page.locator('.editor-instance .line-numbers.active-line-number').allInnerTexts();

/** Waits until a cursor is on the line, from 1. */
export const waitForLine = (page, line) => waitFor(page, async () => (await cursorLines(page)).includes(String(line)));
