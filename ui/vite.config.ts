import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// `vite` alone is `./dev ui --watch`: the pages reload while the API comes from a running server.
const api = process.env.EBB_API ?? 'http://127.0.0.1:8700';

export default defineConfig({
  // Chunks name one another relative to themselves, so the same bytes work below any base path.
  base: './',
  plugins: [svelte()],
  build: {
    target: 'es2022',
    outDir: process.env.EBB_UI_OUT ?? 'dist',
    emptyOutDir: true,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    // The Content-Security-Policy allows data: for images only.
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: 'assets/[name].[hash].js', chunkFileNames: 'assets/[name].[hash].js', assetFileNames: 'assets/[name].[hash][extname]' },
    },
  },
  server: { host: '127.0.0.1', proxy: { '/api': { target: api, changeOrigin: true } } },
});
