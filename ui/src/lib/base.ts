// Where the server is mounted. The page's files lie in BASE/assets/, so this module's own address tells it; Vite's
// development server has no such folder and mounts at the root.
const here = new URL(import.meta.url).pathname;
const at = here.lastIndexOf('/assets/');

/** With a slash at both ends. */
export const base = at < 0 ? '/' : here.slice(0, at + 1);
export const api = `${base}api/v1`;
