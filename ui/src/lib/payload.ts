// A payload as the API shows it is not always the stored one. What is sent back as an input must not be a stand-in.

/** Stands for a redacted member. */
const REDACTED = '•••';

/** Whether it stands for a whole payload, which is hidden from this person or too long for the answer. */
export function isStandIn(value: unknown): boolean {
  const { $hidden, $truncated } = (value ?? {}) as { $hidden?: unknown; $truncated?: unknown };
  return $hidden === true || $truncated === true;
}

/** Whether all of it is the stored one: no part of it is a stand-in. */
export function isWhole(value: unknown): boolean {
  if (value === REDACTED || isStandIn(value)) return false;
  return typeof value !== 'object' || value === null || Object.values(value).every(isWhole);
}
