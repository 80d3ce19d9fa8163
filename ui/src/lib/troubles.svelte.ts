// The problems that the page shows now. If the server cannot answer, several parts of a page have the same problem: the
// first part shows it with a button, and the other parts say in one line that they have no data.
interface Shown {
  /** Equal for two parts that have the same problem. */
  key: string;
  isPassing: boolean;
  /** The part that came first has the lowest number. It keeps the number when it tries again. */
  order: number;
  retry: (() => void) | undefined;
}
let shown = $state.raw<Shown[]>([]);
/** The same list, not reactive: in a teardown, Svelte reads `shown` as it was before the current update. */
let all: Shown[] = [];
let made = 0;
export const nextOrder = () => ++made;

/** Adds a problem. The returned function removes it. */
export function report(one: Shown): () => void {
  shown = all = [...all, one];
  return () => (shown = all = all.filter((other) => other !== one));
}

export const isTold = (one: Shown) => shown.some((other) => other.key === one.key && other.order < one.order);
export const retryAll = (key: string) => shown.filter((one) => one.key === key).forEach((one) => one.retry?.());

export const troubles = {
  /** The page does not get updates: the server or its database does not answer. */
  get isStale() {
    return shown.some((one) => one.isPassing);
  },
};
