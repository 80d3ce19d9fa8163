// What an act will do, before it is done: which compensations a cancel runs, in their order.
import type { Layout, Step } from '../api/client';

export interface Undo {
  node: string;
  handler: string;
}

/** Completed steps that have a compensation and are not undone yet, the last completed first. */
export function undoes(steps: Step[], layout: Layout | undefined): Undo[] {
  const handlers = new Map((layout?.nodes ?? []).filter((node) => node.node && node.compensation.whole).map((node) => [node.node!, node.compensation.whole]));
  return steps
    .filter((step) => step.status === 'completed' && handlers.has(step.node))
    .sort((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? 1 : -1))
    .map((step) => ({ node: step.node, handler: handlers.get(step.node)! }));
}
