// The kinds of nodes, as the definition spells them.
export const KINDS = ['step', 'condition', 'switch', 'parallel', 'loop', 'delay', 'decision', 'signal', 'savepoint', 'fail', 'graph'] as const;
export type Kind = (typeof KINDS)[number];
