import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { GetModuleInfo } from 'rollup';
import { defineConfig, type Plugin } from 'vite';

/** The modules that `entry` needs to run, by the name of its file. */
function neededBy(entry: string, { getModuleIds, getModuleInfo }: { getModuleIds(): Iterable<string>; getModuleInfo: GetModuleInfo }): Set<string> {
  const all = new Set<string>();
  const add = (id: string) => {
    if (all.has(id)) return;
    all.add(id);
    getModuleInfo(id)?.importedIds.forEach(add);
  };
  for (const id of getModuleIds()) if (id.endsWith(entry)) add(id);
  return all;
}

let first: Set<string> | undefined;
let app: Set<string> | undefined;
/** The program and its first page are one file: a browser spends more on twenty small ones than on what is in them. */
function chunkOf(id: string, meta: Parameters<typeof neededBy>[1]): string | undefined {
  first ??= neededBy('/src/main.ts', meta);
  app ??= neededBy('/src/app.ts', meta);
  if (first.has(id)) return 'first';
  // All pages share Svelte's.
  return app.size && (app.has(id) || id.includes('/node_modules/svelte/')) ? 'app' : undefined;
}

/** Nearly all of the program runs for its first page. With this comment in the file, the browser compiles all of it on
 * another thread during the download, instead of each function on the page's thread at its first call. */
const compileAhead: Plugin = {
  name: 'ebb-compile-ahead',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      // It counts only as the first line of a file.
      for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk' && chunk.name === 'app') chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`;
    },
  },
};

/** The page names the program, so that it loads beside the first file and not after it. */
const preloads: Plugin = {
  name: 'ebb-preloads',
  buildStart() {
    first = app = undefined;
  },
  transformIndexHtml: {
    order: 'post',
    handler(_, { bundle }) {
      const chunk = Object.values(bundle ?? {}).find((one) => one.type === 'chunk' && one.name === 'app');
      if (chunk?.type !== 'chunk') return;
      const link = (rel: string, file: string) => ({ tag: 'link', attrs: { rel, crossorigin: true, href: `./${file}` }, injectTo: 'head' as const });
      return [link('modulepreload', chunk.fileName), ...[...(chunk.viteMetadata?.importedCss ?? [])].map((file) => link('stylesheet', file))];
    },
  },
};

// `vite` alone is `./dev ui --watch`: the pages reload while the API comes from a running server.
const api = process.env.EBB_API ?? 'http://127.0.0.1:8700';

export default defineConfig({
  // Chunks name one another relative to themselves, so the same bytes work below any base path.
  base: './',
  plugins: [svelte(), compileAhead, preloads],
  build: {
    target: 'es2022',
    outDir: process.env.EBB_UI_OUT ?? 'dist',
    emptyOutDir: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    // The Content-Security-Policy allows data: for images only.
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { manualChunks: chunkOf, entryFileNames: 'assets/[name].[hash].js', chunkFileNames: 'assets/[name].[hash].js', assetFileNames: 'assets/[name].[hash][extname]' },
    },
  },
  server: { host: '127.0.0.1', proxy: { '/api': { target: api, changeOrigin: true } } },
});
