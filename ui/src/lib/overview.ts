// What the overview begins with. It is known before the page is there, so that its answers come while it is being built.
export const DEAD_GROUPS = '/failures/groups?status=dead_letter';
export const UNSERVED = '/unserved';
/** Of each, the permission that it needs. */
export const OVERVIEW_FIRST = { 'instances.read': DEAD_GROUPS, 'workers.read': UNSERVED } as const;

const REMEMBERED = 'ebb.first';

/** What the overview begins with, as far as this browser was allowed to read it the last time: it need not wait for the
 * answer that says what it may read. */
export function rememberedFirst(): string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(REMEMBERED) ?? '[]');
    return Object.values(OVERVIEW_FIRST).filter((path) => Array.isArray(kept) && kept.includes(path));
  } catch {
    return [];
  }
}

export function rememberFirst(paths: readonly string[]) {
  try {
    if (paths.length) localStorage.setItem(REMEMBERED, JSON.stringify(paths));
    else localStorage.removeItem(REMEMBERED);
  } catch {
    // A forbidden storage remembers nothing.
  }
}
