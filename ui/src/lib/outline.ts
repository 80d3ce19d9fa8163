// The nodes of a definition in its YAML text, and edits of that text for what is done on the picture. An edit touches the
// lines of its node only, so comments and layout of everything else stay as they are. The text may be invalid at any time.
import { yamlLanguage } from '@codemirror/lang-yaml';
import { KINDS, type Kind } from './kinds';

type SyntaxNode = ReturnType<typeof yamlLanguage.parser.parse>['topNode'];

export { KINDS, type Kind };

export interface Piece {
  name: string;
  kind: Kind;
  /** Of the whole item, its dash and the comments right above it included; in a flow sequence of the item alone. */
  from: number;
  to: number;
  /** From 1. */
  line: number;
  lastLine: number;
  /** The column of the dash; -1 in a flow sequence. */
  indent: number;
  /** Its place among its siblings, which have the same sequence. */
  sequence: number;
  index: number;
  count: number;
  /** The scalar values at its first level, such as `queue`; with their places. */
  fields: Map<string, Field>;
  isShort: boolean;
}

export interface Field {
  text: string;
  from: number;
  to: number;
  isScalar: boolean;
}

const children = (node: SyntaxNode) => {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) found.push(child);
  return found;
};

export function plain(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (!text.startsWith('"')) return text;
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}

/** Quoted where YAML would read something else. */
export function scalar(value: string): string {
  const is_plain = /^[\p{L}_][\p{L}\d_./ -]*$/u.test(value) && !/\s$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return is_plain || /^(0|[1-9]\d*)$/.test(value) ? value : JSON.stringify(value);
}

function fieldsOf(mapping: SyntaxNode, text: string): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const pair of children(mapping)) {
    const key = pair.name === 'Pair' ? pair.getChild('Key') : null;
    if (!key) continue;
    const value = children(pair).filter((child) => !['Key', ':', 'Comment'].includes(child.name)).pop();
    const [from, to] = value ? [value.from, value.to] : [pair.to, pair.to];
    fields.set(plain(text.slice(key.from, key.to)), { text: value ? text.slice(from, to) : '', from, to, isScalar: !value || /Literal$/.test(value.name) });
  }
  return fields;
}

/** All nodes, in the order of the text. */
export function outlineOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const lineOf = (at: number) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle;
    }
    return low;
  };
  yamlLanguage.parser.parse(text).iterate({
    enter: ({ node }) => {
      if (node.name !== 'BlockSequence' && node.name !== 'FlowSequence') return;
      const is_flow = node.name === 'FlowSequence';
      const items = node.getChildren('Item');
      items.forEach((item, index) => {
        const inner = children(item).find((child) => child.name !== 'Comment');
        if (!inner) return;
        const is_short = inner.name === 'Literal' || inner.name === 'QuotedLiteral';
        const fields = is_short ? new Map<string, Field>() : fieldsOf(inner, text);
        const kind: Kind | undefined = is_short ? 'step' : KINDS.find((one) => fields.has(one));
        if (!kind || (is_short && !isOfSteps(node, text))) return;
        const name = is_short ? plain(text.slice(inner.from, inner.to)) : plain(fields.get(kind)!.text);
        const dash = is_flow ? null : item.prevSibling;
        let first = lineOf(dash?.from ?? item.from);
        const indent = dash ? dash.from - starts[first]! : -1;
        const line = first + 1;
        if (!is_flow) while (first > 0 && index > 0 && /^\s*#/.test(text.slice(starts[first - 1], starts[first]))) first -= 1;
        const last = lineOf(Math.max(item.from, item.to - 1));
        const from = is_flow ? item.from : starts[first]!;
        const to = is_flow ? item.to : (starts[last + 1] ?? text.length);
        pieces.push({ name, kind, from, to, line, lastLine: last + 1, indent, sequence: node.from, index, count: items.length, fields, isShort: is_short });
      });
    },
  });
  return pieces.sort((a, b) => a.line - b.line || a.from - b.from);
}

/** A bare text is a step in a sequence of steps, and nothing of ours in one of roles or names. */
function isOfSteps(sequence: SyntaxNode, text: string): boolean {
  for (let node: SyntaxNode | null = sequence.parent; node; node = node.parent) {
    if (node.name !== 'Pair') continue;
    const key = node.getChild('Key');
    const name = key ? plain(text.slice(key.from, key.to)) : '';
    if (['steps', 'then', 'else', 'default', 'on_reject', 'do', 'nodes'].includes(name)) return true;
    const owner = node.parent?.parent;
    const above = owner?.name === 'Pair' ? owner.getChild('Key') : null;
    return above !== null && above !== undefined && ['branches', 'cases'].includes(plain(text.slice(above.from, above.to)));
  }
  return false;
}

const splice = (text: string, from: number, to: number, put: string) => text.slice(0, from) + put + text.slice(to);

const BODY: Record<Kind, (pad: string, inner: string) => string> = {
  step: () => '',
  condition: (pad, inner) => `${pad}when: input.amount > 100\n${pad}then:\n${pad}  - step: ${inner}\n`,
  switch: (pad, inner) => `${pad}cases:\n${pad}  - when: input.amount > 100\n${pad}    do: [${inner}]\n${pad}default: []\n`,
  parallel: (pad, inner) => `${pad}branches:\n${pad}  one:\n${pad}    - step: ${inner}\n${pad}  two:\n${pad}    - step: ${inner}_2\n`,
  loop: (pad, inner) => `${pad}while: input.more\n${pad}max_iterations: 10\n${pad}do:\n${pad}  - step: ${inner}\n`,
  delay: (pad) => `${pad}for: 1h\n`,
  decision: (pad) => `${pad}roles: [manager]\n`,
  signal: () => '',
  savepoint: () => '',
  fail: (pad) => `${pad}message: It cannot go on\n`,
  graph: () => '',
};
/** What the picture offers; the others are written in the text. */
export const ADDABLE: Kind[] = ['step', 'condition', 'parallel', 'loop', 'delay', 'decision', 'signal', 'savepoint', 'fail'];

/** A name that no node has. */
export function freeName(pieces: Piece[], wish: string): string {
  const taken = new Set(pieces.map((piece) => piece.name));
  let name = wish;
  for (let n = 2; taken.has(name); ++n) name = `${wish}_${n}`;
  return name;
}

/** A new node after `piece`; without one, at the end of the text. */
export function insertAfter(text: string, piece: Piece | undefined, kind: Kind, name: string, inner: string): string {
  if (piece && piece.indent < 0) return splice(text, piece.to, piece.to, `, {${kind}: ${scalar(name)}}`);
  const indent = ' '.repeat(piece?.indent ?? 2);
  const item = `${indent}- ${kind}: ${scalar(name)}\n${BODY[kind](`${indent}  `, scalar(inner))}`;
  if (piece) return splice(text, piece.to, piece.to, (text[piece.to - 1] === '\n' ? '' : '\n') + item);
  const has_steps = /^steps:\s*(\[\s*\])?\s*$/m.exec(text);
  const whole = has_steps?.[1] ? text.replace(/^steps:\s*\[\s*\]/m, 'steps:') : text;
  return `${whole}${whole.endsWith('\n') || !whole ? '' : '\n'}${has_steps ? '' : 'steps:\n'}${item}`;
}

export function remove(text: string, piece: Piece): string {
  if (piece.indent >= 0) {
    // A sequence without items would be null.
    if (piece.count === 1) return splice(text, piece.from, piece.to, `${' '.repeat(piece.indent)}[]\n`);
    return splice(text, piece.from, piece.to, '');
  }
  const after = /^\s*,\s*/.exec(text.slice(piece.to));
  if (after) return splice(text, piece.from, piece.to + after[0].length, '');
  const before = /,\s*$/.exec(text.slice(0, piece.from));
  return splice(text, piece.from - (before?.[0].length ?? 0), piece.to, '');
}

/** Changes places with the sibling before (-1) or after it (1). */
export function move(text: string, pieces: Piece[], piece: Piece, by: -1 | 1): string {
  const other = pieces.find((one) => one.sequence === piece.sequence && one.index === piece.index + by);
  if (!other) return text;
  const [first, second] = by < 0 ? [other, piece] : [piece, other];
  const line = (one: Piece) => {
    const part = text.slice(one.from, one.to);
    return one.indent >= 0 && !part.endsWith('\n') ? part + '\n' : part;
  };
  return text.slice(0, first.from) + line(second) + text.slice(first.to, second.from) + line(first) + text.slice(second.to);
}

/** Takes the node out and puts it after another one, as deep as that stands. A node in a line, or one that is put into itself,
 * stays where it is. */
export function moveAfter(text: string, piece: Piece, target: Piece): string {
  const is_inside = target.from >= piece.from && target.to <= piece.to;
  if (piece.indent < 0 || target.indent < 0 || is_inside) return text;
  const by = target.indent - piece.indent;
  const own = text.slice(piece.from, piece.to);
  const shifted = (line: string) => (by >= 0 || !line.trim() ? (line.trim() ? ' '.repeat(by) + line : line) : line.slice(Math.min(-by, line.length - line.trimStart().length)));
  const part = (text[target.to - 1] === '\n' ? '' : '\n') + own.replace(/\n?$/, '\n').split('\n').map(shifted).join('\n');
  // The later place first: the earlier one does not move.
  if (target.to >= piece.to) return remove(splice(text, target.to, target.to, part), piece);
  return splice(remove(text, piece), target.to, target.to, part);
}

/** Sets a scalar of the node, adds it, or takes it out if `value` is empty. */
export function setField(text: string, piece: Piece, name: string, value: string): string {
  const field = piece.fields.get(name);
  if (piece.isShort) {
    const at = text.indexOf(piece.name, piece.indent >= 0 ? piece.from + piece.indent + 1 : piece.from);
    return value ? splice(text, at, at + piece.name.length, `{step: ${scalar(piece.name)}, ${name}: ${scalar(value)}}`) : text;
  }
  if (field && value) return splice(text, field.from, field.to, (text[field.from - 1] === ':' ? ' ' : '') + scalar(value));
  const own = piece.fields.get(piece.kind)!;
  const is_flow = /^\s*-?\s*\{/.test(text.slice(piece.indent >= 0 ? text.indexOf('-', piece.from + piece.indent) : piece.from));
  if (field) {
    if (is_flow) {
      const key = text.lastIndexOf(name, field.from);
      const begin = text.lastIndexOf(',', key);
      return splice(text, begin, field.to, '');
    }
    const begin = text.lastIndexOf('\n', field.from) + 1;
    const end = text.indexOf('\n', field.to);
    return splice(text, begin, end < 0 ? text.length : end + 1, '');
  }
  if (!value) return text;
  if (is_flow) return splice(text, own.to, own.to, `, ${name}: ${scalar(value)}`);
  const end = text.indexOf('\n', own.to);
  const at = end < 0 ? text.length : end + 1;
  return splice(text, at, at, `${end < 0 ? '\n' : ''}${' '.repeat(piece.indent + 2)}${name}: ${scalar(value)}\n`);
}
