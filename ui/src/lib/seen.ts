// The instances that were looked at since the page was loaded, the newest first. Kept nowhere else.
export interface Seen {
  id: string;
  title: string;
  status: string;
}

const SEEN_MAX = 5;
let seen: Seen[] = [];

export const seenLately = (): readonly Seen[] => seen;

export function see(one: Seen) {
  seen = [one, ...seen.filter((other) => other.id !== one.id)].slice(0, SEEN_MAX);
}
