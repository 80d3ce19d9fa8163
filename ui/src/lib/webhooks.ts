// The types of events that a webhook can get, as the server names them; a test compares them with its source.
export const EVENT_TYPES = [
  'instance.started', 'instance.completed', 'instance.failed', 'instance.cancelled', 'instance.aborted', 'instance.compensating', 'instance.dead_lettered',
  'instance.requeued', 'step.failed', 'decision.awaited', 'decision.made', 'decision.overdue', 'bulk.finished',
  'queue.blocked', 'worker.lost',
];
