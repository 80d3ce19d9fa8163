// A small run of a small workflow, as the API would have it.
import type { HistoryEvent, Layout, Step } from '../src/api/client';

const begin = Date.UTC(2030, 0, 15, 9, 38);
const at = (ms: number) => new Date(begin + ms).toISOString();
const event = (seq: number, type: string, ms: number, more: Partial<HistoryEvent> = {}): HistoryEvent => ({ seq, at: at(ms), type, node: null, path: null, visit: 0, attempt: 0, ref: 0, payload: null, worker: null, started_at: null, ...more });
const declined = { code: 'card_declined', message: 'The bank declined the card' };

export const events: HistoryEvent[] = [
  event(1, 'started', 0),
  event(2, 'step_completed', 900, { node: 'reserve', visit: 1, attempt: 1, ref: 1, started_at: at(400), worker: 'stock-1' }),
  event(3, 'step_retried', 1400, { node: 'charge', visit: 2, attempt: 1, ref: 2, started_at: at(900), payload: declined, worker: 'pay-1' }),
  event(4, 'step_failed', 4000, { node: 'charge', visit: 2, attempt: 2, ref: 2, started_at: at(3500), payload: declined, worker: 'pay-1' }),
  event(5, 'rollback_started', 4000, { ref: 4 }),
  event(6, 'step_compensated', 4700, { node: 'reserve', visit: 3, attempt: 1, ref: 2, started_at: at(4100), worker: 'stock-1' }),
  event(7, 'failed', 4700, { ref: 4 }),
];

const step = (node: string, status: Step['status'], visit: number, more: Partial<Step>): Step => ({ node, kind: 'step', path: null, visit, status, attempts: 1, input: { order: 'SO-1' }, output: null, error: null, progress: null, worker: 'pay-1', started_at: at(400), finished_at: at(4000), ...more });
export const steps: Step[] = [step('reserve', 'compensated', 1, { output: { id: 're-1' } }), step('charge', 'failed', 2, { attempts: 2, error: declined }), step('approve', 'waiting', 3, { kind: 'decision', finished_at: null })];

const words = (text: string) => ({ text, whole: text });
const node = (id: number, name: string | null, shape: 'start' | 'end' | 'step', y: number): Layout['nodes'][number] => ({
  id, node: name, shape, box: { x: 0, y, width: 200, height: 60 }, body: { x: 10, y: y + 5, width: 180, height: 50 }, bar: null, line: null, label: words(name ?? ''), sublabel: words(''), compensation: words(name === 'reserve' ? 'release' : ''), description: '',
});
const edge = (from: number, to: number, y: number): Layout['edges'][number] => ({ from, to, kind: 'next', points: [[100, y], [100, y + 20]], label: words(''), label_box: null });
export const layout: Layout = { width: 200, height: 320, nodes: [node(0, null, 'start', 0), node(1, 'reserve', 'step', 80), node(2, 'charge', 'step', 160), node(3, null, 'end', 240)], edges: [edge(0, 1, 60), edge(1, 2, 140), edge(2, 3, 220)], frames: [] };
