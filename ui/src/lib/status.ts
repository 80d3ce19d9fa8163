// The signs of statuses, the same as in the terminal and in the pictures.
export const SIGNS: Record<string, string> = {
  running: '▸',
  waiting: '◷',
  retrying: '↻',
  completed: '✓',
  failed: '✗',
  compensating: '↩',
  compensated: '↶',
  compensation_failed: '‼',
  dead_letter: '■',
  paused: '‖',
  cancelled: '⊘',
  aborted: '⊗',
  skipped: '–',
  pending: '○',
  moved: '⇥',
  delivered: '✓',
  stopped: '⊘',
};

export const INSTANCE_STATUSES = ['running', 'paused', 'compensating', 'dead_letter', 'completed', 'failed', 'cancelled', 'aborted', 'moved'] as const;
export const LIVE_STATUSES = ['running', 'paused', 'compensating', 'dead_letter'];
export const isOver = (status: string) => !LIVE_STATUSES.includes(status) && status !== 'moved';
