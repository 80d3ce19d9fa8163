// Requests that begin before the program has loaded. Each answer is used once, by the first call for it.
import { api } from '../lib/base';

export const ACCEPT = 'application/json';
const asked = new Map<string, Promise<Response>>();

/** Begins to read `path`, if that has not begun. */
export function ask(path: string) {
  if (asked.has(path)) return;
  const answer = fetch(api + path, { headers: { Accept: ACCEPT } });
  // The call that takes it sees the error.
  answer.catch(() => undefined);
  asked.set(path, answer);
}

/** What `ask` has begun, the first time; then undefined. */
export function take(path: string): Promise<Response> | undefined {
  const answer = asked.get(path);
  asked.delete(path);
  return answer;
}
