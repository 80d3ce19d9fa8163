// What two definitions differ in, node by node. A node's own part is all of it but the nodes inside of it, so that a change
// deep in a branch marks one node and not its parents. Pure.
import { KINDS } from './kinds';

export type Change = 'added' | 'removed' | 'changed';

const BLOCKS = new Set(['then', 'else', 'default', 'do', 'on_reject', 'nodes', 'steps', 'branches', 'cases']);

function collect(value: unknown, found: Map<string, string>) {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'string') found.set(item, JSON.stringify({ step: item }));
      else collect(item, found);
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  const kind = KINDS.find((one) => typeof fields[one] === 'string');
  if (kind) {
    const own = Object.entries(fields).filter(([name]) => !BLOCKS.has(name) && name !== kind);
    // The conditions of a switch are its own; what follows them is not.
    const cases = Array.isArray(fields.cases) ? fields.cases.map((one) => (one as Record<string, unknown>).when) : [];
    const branches = fields.branches && !Array.isArray(fields.branches) ? Object.keys(fields.branches) : [];
    found.set(String(fields[kind]), JSON.stringify([kind, own.sort(([a], [b]) => (a < b ? -1 : 1)), cases, branches]));
  }
  for (const [name, inner] of Object.entries(fields)) if (BLOCKS.has(name) || !kind) collect(inner, found);
}

function nodesOf(definition: unknown): Map<string, string> {
  const found = new Map<string, string>();
  collect((definition as { steps?: unknown } | null)?.steps ?? [], found);
  return found;
}

/** By node, in the order of the definitions. */
export function changesOf(before: unknown, after: unknown): Map<string, Change> {
  const [one, other] = [nodesOf(before), nodesOf(after)];
  const changes = new Map<string, Change>();
  for (const [name, own] of other) {
    if (!one.has(name)) changes.set(name, 'added');
    else if (one.get(name) !== own) changes.set(name, 'changed');
  }
  for (const name of one.keys()) if (!other.has(name)) changes.set(name, 'removed');
  return changes;
}
