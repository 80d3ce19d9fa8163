// What differs between two JSON values, by path; and between two texts, by line. Pure.
export interface Difference {
  path: string;
  kind: 'added' | 'removed' | 'changed';
  before: unknown;
  after: unknown;
}

export function differences(before: unknown, after: unknown, path = '', found: Difference[] = [], most = 500): Difference[] {
  if (found.length >= most || Object.is(before, after)) return found;
  const are_trees = [before, after].every((value) => typeof value === 'object' && value !== null) && Array.isArray(before) === Array.isArray(after);
  if (!are_trees) {
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      found.push({ path: path || '/', kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed', before, after });
    }
    return found;
  }
  const one = before as Record<string, unknown>;
  const other = after as Record<string, unknown>;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) differences(one[key], other[key], `${path}/${key}`, found, most);
  return found;
}

export interface Line {
  kind: 'same' | 'added' | 'removed';
  text: string;
  before: number;
  after: number;
}

/** Lines by the longest common subsequence; texts above 3,000 lines are compared as whole blocks in the middle. */
export function lineDiff(before: string, after: string): Line[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) ++head;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) ++tail;
  const middle_a = a.slice(head, a.length - tail);
  const middle_b = b.slice(head, b.length - tail);
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  const push = (kind: Line['kind'], text: string) => {
    lines.push({ kind, text, before: kind === 'added' ? 0 : ++i, after: kind === 'removed' ? 0 : ++j });
  };
  for (const text of a.slice(0, head)) push('same', text);
  if (middle_a.length * middle_b.length > 9e6) {
    for (const text of middle_a) push('removed', text);
    for (const text of middle_b) push('added', text);
  } else middleDiff(middle_a, middle_b, push);
  for (const text of a.slice(a.length - tail)) push('same', text);
  return lines;
}

function middleDiff(a: string[], b: string[], push: (kind: Line['kind'], text: string) => void) {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1]! + 1 : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push('same', a[i]!);
      ++i;
      ++j;
    } else if (j < b.length && (i >= a.length || length[i * width + j + 1]! > length[(i + 1) * width + j]!)) push('added', b[j++]!);
    else push('removed', a[i++]!);
  }
}
