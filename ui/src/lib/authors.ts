// Who caused an event. Only these types have the name in their payload as `by`; the payloads of others are the
// application's. A test compares the list with the server's.
export const SAYS_WHO = ['decision_made', 'requeued', 'cancel_requested', 'abort_requested', 'paused', 'unpaused', 'moved', 'arrived', 'attributes_written', 'compensation_skipped'];

export function authorOf(event: { type: string; payload: unknown; worker: string | null; by?: string | null }): string {
  const by = event.by ?? (SAYS_WHO.includes(event.type) ? (event.payload as { by?: unknown } | null)?.by : undefined);
  return typeof by === 'string' && by ? by : (event.worker ?? '');
}
