// The columns of the list of instances. A person's choice is kept in this browser; one in the address or in a saved view
// comes first, so that a view can be sent to a colleague.
export const COLUMNS = ['status', 'workflow', 'key', 'labels', 'waits', 'error', 'id', 'priority', 'started', 'changed', 'ended', 'took'] as const;
export type Column = (typeof COLUMNS)[number];

export const DEFAULT_COLUMNS: readonly Column[] = ['status', 'workflow', 'key', 'labels', 'id', 'started', 'changed', 'took'];
/** It leads to the instance, so it is always there. */
export const FIXED: Column = 'workflow';
/** What the server reads for each row besides the row itself. */
const OUTLINED: readonly Column[] = ['waits', 'error'];

/** The known ones of `names`, in their order in the table; undefined if none is known. */
export function columnsOf(names: readonly unknown[]): Column[] | undefined {
  const found = COLUMNS.filter((column) => names.includes(column));
  return found.length ? COLUMNS.filter((column) => column === FIXED || found.includes(column)) : undefined;
}

/** The choice as it stands in the address; empty for the default. */
export function columnsText(columns: readonly Column[]): string {
  return columns.join() === DEFAULT_COLUMNS.join() ? '' : columns.join(',');
}

export const columnsFromText = (text: string | null): Column[] | undefined => (text ? columnsOf(text.split(',')) : undefined);

/** With `column` added, or without it. */
export function withColumn(columns: readonly Column[], column: Column): Column[] {
  return COLUMNS.filter((one) => one === FIXED || (one === column) !== columns.includes(one));
}

export const needsOutline = (columns: readonly Column[]) => columns.some((column) => OUTLINED.includes(column));
