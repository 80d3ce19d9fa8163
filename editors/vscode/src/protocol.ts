// What `ebb/diagram` answers, and what the extension and the picture's page say to each other.

import { ACTS, type Act, type Shown } from './model';

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface DiagramNode {
  name: string;
  path: string;
  range: Range;
}

export interface Diagram {
  svg: string;
  /** Instead of `svg`, if another format was asked for. */
  text?: string;
  nodes: DiagramNode[];
  version: number;
  problems: number;
}

/** To the page. */
export type ToPage =
  | { type: 'diagram'; uri: string; svg: string; problems: number }
  | { type: 'mark'; node: string | null }
  | { type: 'png' }
  | { type: 'difference'; svg: string; list: string; note: string };

/** From the page. */
export type FromPage = { type: 'ready' } | { type: 'open'; node: string } | { type: 'png'; data: string };

/** What begins the address of a picture in PNG; the rest is base64. */
export const PNG = 'data:image/png;base64,';

/** To the page of an instance. */
export type ToInstancePage =
  | { type: 'instance'; shown: Shown; acts: Act[] }
  | { type: 'now'; now: string }
  | { type: 'fault'; text: string };

/** From the page of an instance; `pointer` leads to a value of what the page shows. */
export type FromInstancePage =
  | { type: 'ready' }
  | { type: 'act'; act: Act }
  | { type: 'open'; node: string }
  | { type: 'value'; title: string; pointer: (string | number)[] };

const size = (range: Range) => [range.end.line - range.start.line, range.end.character - range.start.character] as const;

/** Is the place inside? The line of the end counts only if something of it belongs to the node. */
function holds(range: Range, line: number): boolean {
  const last = range.end.character === 0 && range.end.line > range.start.line ? range.end.line - 1 : range.end.line;
  return range.start.line <= line && line <= last;
}

/** The innermost node around a line. */
export function nodeAt(nodes: readonly DiagramNode[], line: number): DiagramNode | undefined {
  return nodes
    .filter((node) => holds(node.range, line))
    .sort((a, b) => size(a.range)[0] - size(b.range)[0] || size(a.range)[1] - size(b.range)[1])[0];
}

/** Does the page say something that it may say? */
export function isFromPage(message: unknown): message is FromPage {
  if (typeof message !== 'object' || message === null) return false;
  const { type, node, data } = message as { type?: unknown; node?: unknown; data?: unknown };
  if (type === 'png') return typeof data === 'string' && data.startsWith(PNG);
  return type === 'ready' || (type === 'open' && typeof node === 'string');
}

export function isFromInstancePage(message: unknown): message is FromInstancePage {
  if (typeof message !== 'object' || message === null) return false;
  const { type, act, node, title, pointer } = message as Record<string, unknown>;
  if (type === 'act') return typeof act === 'string' && (ACTS as readonly string[]).includes(act);
  if (type === 'open') return typeof node === 'string';
  if (type === 'value') return typeof title === 'string' && Array.isArray(pointer) && pointer.every((key) => typeof key === 'string' || typeof key === 'number');
  return type === 'ready';
}
