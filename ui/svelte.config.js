import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

export default {
  preprocess: vitePreprocess({ style: false }),
  compilerOptions: {
    runes: true,
    // By content, not by path: two checkouts give the same bytes.
    cssHash: ({ hash, css }) => `x${hash(css)}`,
  },
};
