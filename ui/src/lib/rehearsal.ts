// What a rehearsal says, for the picture and the timeline: the state of each node, and what was undone. Pure.
import type { HistoryEvent, Schemas, Step } from '../api/client';

export type Outcome = NonNullable<Schemas['RehearsedOutcome']['outcome']>;
/** What a person has chosen, by node; `undo` is the outcome of the node's compensation. */
export interface Plan {
  outcomes: Record<string, Outcome>;
  undo: Record<string, Outcome>;
  cancelAfter: string;
  input: string;
}

export const emptyPlan = (): Plan => ({ outcomes: {}, undo: {}, cancelAfter: '', input: '{}' });
export const OUTCOMES: Record<string, Outcome[]> = { step: ['complete', 'fail', 'fail_for_good', 'never'], decision: ['complete', 'fail_for_good', 'never'], signal: ['complete', 'never'] };

/** What is sent; what completes is left out, and so is what the text does not have any more. */
export function requestOf(definition: string, plan: Plan, names: Set<string>, input: unknown) {
  const given = (outcomes: Record<string, Outcome>) => Object.fromEntries(Object.entries(outcomes).filter(([name, outcome]) => names.has(name) && outcome !== 'complete').map(([name, outcome]) => [name, { outcome }]));
  return { definition, input, outcomes: given(plan.outcomes), compensations: given(plan.undo), ...(names.has(plan.cancelAfter) && { cancel_after: plan.cancelAfter }) };
}

const ENDS: Record<string, string> = {
  step_completed: 'completed', decision_completed: 'completed', signal_completed: 'completed', timer_fired: 'completed', branch_taken: 'completed', scope_joined: 'completed', savepoint_reached: 'completed',
  step_failed: 'failed', step_retried: 'retrying', step_compensated: 'compensated', compensation_failed: 'compensation_failed', compensation_retried: 'compensating', decision_awaited: 'waiting', signal_awaited: 'waiting', timer_started: 'waiting',
};

/** One row for each visit, as the steps of an instance are. */
export function stepsOf(events: HistoryEvent[]): Step[] {
  const steps = new Map<string, Step>();
  const visits = new Map(events.map((event) => [event.seq, event.visit]));
  for (const event of events) {
    const status = ENDS[event.type];
    if (!event.node || !status) continue;
    // A compensation is a visit of its own; what it says is about the visit that it undoes.
    const is_undo = event.type.startsWith('compensation_') || event.type === 'step_compensated';
    const visit = is_undo ? (visits.get(event.ref) ?? event.visit) : event.visit;
    const name = `${event.node}#${visit}`;
    const known = steps.get(name);
    // What failed stays so after it was undone: that is where one has to look.
    const shown = is_undo && known?.status === 'failed' && status === 'compensated' ? 'failed' : status;
    steps.set(name, {
      node: event.node, kind: 'step', path: event.path, visit, status: shown, attempts: Math.max(known?.attempts ?? 0, event.attempt), input: null, output: null,
      error: event.type.endsWith('_failed') ? event.payload : (known?.error ?? null), progress: null, worker: null, started_at: known?.started_at ?? event.started_at, finished_at: event.at,
    } as Step);
  }
  return [...steps.values()];
}

export function marksOf(steps: Step[]): Record<string, { status: string; attempts: number; note: string | null }> {
  return Object.fromEntries(steps.map((step) => [step.node, { status: step.status, attempts: step.attempts, note: null }]));
}

/** In the order in which they were undone. */
export const undoneOf = (events: HistoryEvent[]) => events.filter((event) => event.type === 'step_compensated').map((event) => event.node!);
