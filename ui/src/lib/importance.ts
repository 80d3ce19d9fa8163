// Nodes that the definition calls unimportant, `metadata: {importance: low}`: such as notifications. Lists fold them.
import { KINDS } from './kinds';

/** Their names, however deep they stand. */
export function quietNodes(definition: unknown): Set<string> {
  const quiet = new Set<string>();
  const walk = (value: unknown) => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (typeof value !== 'object' || value === null) return;
    const object = value as Record<string, unknown>;
    const kind = KINDS.find((one) => typeof object[one] === 'string');
    const metadata = object.metadata as { importance?: unknown } | undefined;
    if (kind && metadata?.importance === 'low') quiet.add(object[kind] as string);
    for (const [name, inner] of Object.entries(object)) if (name !== 'metadata') walk(inner);
  };
  walk((definition as { steps?: unknown } | undefined)?.steps);
  return quiet;
}

/** What is folded of these steps: the quiet ones that went as they should. */
export function foldedNodes(quiet: Set<string>, steps: readonly { node: string; status: string; attempts: number }[]): Set<string> {
  const loud = new Set(steps.filter((step) => step.attempts > 1 || !['completed', 'skipped', 'compensated'].includes(step.status)).map((step) => step.node));
  return new Set(steps.map((step) => step.node).filter((node) => quiet.has(node) && !loud.has(node)));
}
