// Rules of the UI's sources, and the budgets of what is built.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../ui/', import.meta.url));
const built = process.env.EBB_UI_OUT ?? fileURLToPath(new URL('../../build/ui', import.meta.url));
const filesOf = (folder) => readdirSync(folder).flatMap((name) => (statSync(join(folder, name)).isDirectory() ? filesOf(join(folder, name)) : [join(folder, name)]));
const components = filesOf(join(root, 'src')).filter((file) => file.endsWith('.svelte'));

/** What stands between tags, without scripts, styles, comments and expressions. */
function literals(source) {
  let text = source.replace(/<script[\s\S]*?<\/script>|<style[\s\S]*?<\/style>|<!--[\s\S]*?-->/g, '').replace(/<(code|pre|kbd)\b[^>]*>[\s\S]*?<\/\1>/g, '');
  let out = '';
  let depth = 0;
  let tag = false;
  let quote = '';
  for (const letter of text) {
    if (letter === '{') depth += 1;
    else if (letter === '}') depth -= 1;
    else if (depth > 0) continue;
    else if (tag && quote) quote = letter === quote ? '' : quote;
    else if (tag && (letter === '"' || letter === "'")) quote = letter;
    else if (letter === '<') tag = true;
    else if (letter === '>') tag = false;
    else if (!tag) out += letter;
  }
  return out.replace(/&\w+;/g, ' ').match(/\p{L}{2,}/gu) ?? [];
}

test('no component holds literal text: all words are in the message files', () => {
  const allowed = new Set(['JSON', 'UTC', 'API']);
  for (const file of components) {
    const words = literals(readFileSync(file, 'utf8')).filter((word) => !allowed.has(word));
    assert.deepEqual(words, [], file.slice(root.length));
  }
});

test('no component makes markup from text, and none has an inline style that the policy refuses', () => {
  for (const file of components) {
    const source = readFileSync(file, 'utf8');
    assert.doesNotMatch(source, /\{@html|innerHTML|outerHTML|insertAdjacentHTML/, file);
    assert.doesNotMatch(source.replace(/<script[\s\S]*?<\/script>/g, ''), /\sstyle="/, file);
  }
});

const luminance = (hex) => {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one, other) => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

test('every colour of text has a contrast of 4.5 on every paper, in both themes', () => {
  const css = readFileSync(join(root, 'src/design/tokens.css'), 'utf8');
  const tokens = Object.fromEntries([...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [name, [light, dark]]));
  for (const theme of [0, 1]) {
    for (const ink of ['ink', 'soft', 'accent', 'waiting', 'completed', 'failed', 'undo']) {
      for (const paper of ['paper', 'raised', 'selected']) {
        const found = contrast(tokens[ink][theme], tokens[paper][theme]);
        assert.ok(found >= 4.5, `${ink} on ${paper}: ${found.toFixed(2)} (${theme ? 'dark' : 'light'})`);
      }
    }
    assert.ok(contrast(tokens['on-accent'][theme], tokens.accent[theme]) >= 4.5);
    assert.ok(contrast(tokens['on-failed'][theme], tokens.failed[theme]) >= 4.5);
    assert.ok(contrast(tokens['line-strong'][theme], tokens.paper[theme]) >= 3, 'the edge of a field');
  }
});

test('bytes stay within their budgets: 75 kB for the first load, 40 for a page, 150 for the editor, 700 in all', { skip: !existsSync(join(built, 'sizes.json')) }, () => {
  const sizes = JSON.parse(readFileSync(join(built, 'sizes.json'), 'utf8'));
  const dist = join(built, 'dist');
  const seen = new Set();
  // What the page loads at once: its scripts and styles, what those import statically, and the largest language.
  const load = (path) => {
    if (seen.has(path) || !sizes[path]) return;
    seen.add(path);
    if (!path.endsWith('.js')) return;
    const source = readFileSync(join(dist, path), 'utf8');
    for (const [, name] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) load(`/assets/${name}`);
  };
  for (const [, path] of readFileSync(join(dist, 'index.html'), 'utf8').matchAll(/(?:src|href)="\.([^"]+)"/g)) load(path);
  const languages = Object.keys(sizes).filter((path) => /\/(en|de|pt|ru)\.[\w-]+\.js$/.test(path)).sort((a, b) => sizes[b].br - sizes[a].br);
  assert.equal(languages.length, 4);
  load(languages[0]);
  const sum = (paths) => paths.reduce((total, path) => total + sizes[path].br, 0);
  const first = sum([...seen]);
  assert.ok(seen.size >= 4 && first > 10_000, 'the first load was found');
  assert.ok(first <= 75_000, `first load: ${first}`);
  for (const [path, { br }] of Object.entries(sizes)) assert.ok(br <= (path.includes('/editor.') ? 150_000 : 40_000), `${path}: ${br}`);
  assert.ok(sum(Object.keys(sizes)) <= 700_000);
  console.log(`first load ${first} bytes, all ${sum(Object.keys(sizes))} bytes as brotli`);
});
