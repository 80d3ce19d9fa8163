// Boxes and lines of a definition, as the real server's layout JSON has them. Enough for the mock: sequences,
// conditions and parallel blocks, downwards.
const GAP = 28;
const LANE_GAP = 32;
const text = (value = '') => ({ text: value.length > 26 ? value.slice(0, 25) + '…' : value, whole: value });

const KINDS = ['step', 'condition', 'parallel', 'decision', 'signal', 'delay', 'savepoint', 'fail'];
export function kindOf(node) {
  if (typeof node === 'string') return 'step';
  return KINDS.find((kind) => kind in node);
}
export const nameOf = (node) => (typeof node === 'string' ? node : node[kindOf(node)]);

export function lanesOf(node) {
  const kind = kindOf(node);
  if (kind === 'parallel') return Object.entries(node.branches);
  if (kind === 'condition') return [['then', node.then ?? []], ['else', node.else ?? []]];
  return [];
}

const SUBLABELS = {
  step: (node) => (node.handler && node.handler !== node.step ? node.handler : (node.queue ?? '')),
  condition: (node) => node.when,
  decision: (node) => `1 of ${(node.roles ?? ['anyone']).join(', ')}`,
  signal: (node) => node.name ?? '',
  delay: (node) => node.for,
};

function own(node) {
  const kind = kindOf(node);
  const undo = typeof node === 'object' && node.compensate ? 20 : 0;
  if (kind === 'savepoint') return { width: 160, height: 24 };
  if (kind === 'delay') return { width: 150, height: 40 };
  return { width: Math.max(150, 40 + 8 * nameOf(node).length, 40 + 6.5 * (SUBLABELS[kind]?.(typeof node === 'string' ? { step: node } : node) ?? '').length), height: 48 + undo };
}

function measure(steps) {
  let width = 160;
  let height = 0;
  for (const node of steps) {
    const lanes = lanesOf(node);
    if (lanes.length === 0) {
      const size = own(node);
      width = Math.max(width, size.width);
      height += size.height + GAP;
      continue;
    }
    const sizes = lanes.map(([, lane]) => measure(lane));
    width = Math.max(width, sizes.reduce((sum, size) => sum + size.width, 0) + LANE_GAP * (sizes.length - 1) + 32);
    height += own(node).height + GAP + 8 + Math.max(...sizes.map((size) => size.height)) + 44 + GAP;
  }
  return { width, height: Math.max(0, height - GAP) };
}

export function layout(definition) {
  const size = measure(definition.steps);
  const out = { width: size.width + 64, height: 0, nodes: [], edges: [], frames: [] };
  const put = (node, shape, x, y, width, height, more = {}) => {
    const box = { x: x - width / 2, y, width, height };
    const id = out.nodes.length;
    out.nodes.push({ id, node, shape, box, body: box, bar: null, line: null, label: text(node ?? ''), sublabel: text(''), compensation: text(''), description: '', ...more });
    return { id, x, top: y, bottom: y + height };
  };
  const link = (from, to, kind = 'next', label = '') => {
    const points = [[from.x, from.bottom]];
    if (from.x !== to.x) {
      const middle = kind === 'leave' ? to.top - 14 : from.bottom + 14;
      points.push([from.x, middle], [to.x, middle]);
    }
    points.push([to.x, to.top]);
    const at = points[points.length - 2];
    out.edges.push({ from: from.id, to: to.id, kind, points, label: text(label), label_box: label ? { x: at[0] + 6, y: at[1] + 2, width: 7 * label.length + 8, height: 16 } : null });
  };
  const sequence = (steps, x, top, before, kind, label) => {
    let y = top;
    let last = before;
    let edge = kind;
    let word = label;
    for (const node of steps) {
      const kind_of = kindOf(node);
      const data = typeof node === 'string' ? { step: node } : node;
      const mine = own(node);
      const shape = kind_of === 'parallel' ? 'fork' : kind_of;
      const here = put(nameOf(node), shape, x, y, mine.width, mine.height, {
        sublabel: text(SUBLABELS[kind_of]?.(data) ?? ''), compensation: text(data.compensate ?? ''), description: data.description ?? '',
        line: kind_of === 'savepoint' ? [[x - 90, y + 12], [x + 90, y + 12]] : null,
      });
      link(last, here, edge, word);
      y += mine.height + GAP;
      last = here;
      edge = 'next';
      word = '';
      const lanes = lanesOf(node);
      if (lanes.length === 0) continue;
      const sizes = lanes.map(([, lane]) => measure(lane));
      const total = sizes.reduce((sum, one) => sum + one.width, 0) + LANE_GAP * (sizes.length - 1);
      const deepest = Math.max(...sizes.map((one) => one.height));
      if (kind_of === 'parallel') out.frames.push({ kind: 'parallel', label: nameOf(node), box: { x: x - total / 2 - 16, y: y - GAP / 2 + 2, width: total + 32, height: deepest + GAP + 4 } });
      let left = x - total / 2;
      const ends = [];
      lanes.forEach(([name, lane], i) => {
        const center = left + sizes[i].width / 2;
        ends.push(sequence(lane, center, y + 8, here, 'enter', name));
        left += sizes[i].width + LANE_GAP;
      });
      y += 8 + deepest + 24;
      const join = kind_of === 'parallel' ? put(null, 'join', x, y, total, 20, { label: text('all') }) : put(null, 'merge', x, y, 12, 12);
      ends.forEach((end, i) => link(end, { ...join, x: kind_of === 'parallel' ? end.x : join.x }, end.id === here.id ? 'bypass' : 'leave', end.id === here.id ? lanes[i][0] : ''));
      y = join.bottom + GAP;
      last = join;
    }
    return last;
  };
  const center = out.width / 2;
  const start = put(null, 'start', center, 16, 24, 24);
  const end_of = sequence(definition.steps, center, 64, start, 'next', '');
  const end = put(null, 'end', center, end_of.bottom + GAP, 24, 24);
  link(end_of, end);
  out.height = end.bottom + 16;
  return out;
}
