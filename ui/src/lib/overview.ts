// What the overview begins with. It is known before the page is there, so that its answers come while it is being built.
export const DEAD_GROUPS = '/failures/groups?status=dead_letter';
export const UNSERVED = '/unserved';
/** Of each, the permission that it needs. */
export const OVERVIEW_FIRST = { 'instances.read': DEAD_GROUPS, 'workers.read': UNSERVED } as const;
