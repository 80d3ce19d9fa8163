// The message files of the UI and what shows them, for tests that need no browser. The sources run as they are, apart from
// the runes of Svelte, which are what they hold.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('../../ui/src/', import.meta.url));
const fromPackage = createRequire(new URL('../../ui/package.json', import.meta.url));
export const HAS_PACKAGES = existsSync(new URL('../../ui/node_modules/vite/package.json', import.meta.url));

/** What the module text exports; its imports are relative to ui/src. */
export async function load(text) {
  const { buildSync } = createRequire(fromPackage.resolve('vite'))('esbuild');
  const { outputFiles } = buildSync({
    stdin: { contents: text, resolveDir: sources, loader: 'ts' }, bundle: true, format: 'esm', target: 'es2022', write: false, logLevel: 'silent',
    banner: { js: 'const $state = Object.assign((value) => value, { raw: (value) => value });' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

export async function messagesOf(locale) {
  return (await load(`export { ${locale} } from './text/${locale}';`))[locale];
}
