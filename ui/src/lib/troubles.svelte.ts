// The troubles that are shown now. When the server cannot answer, each part of a page meets the same one: it is told once,
// and the others only say that they have nothing to show.
interface Shown {
  /** What two of them have in common if they are the same. */
  key: string;
  isPassing: boolean;
  /** Since when it is on the page: the first one says it, also when another one was tried again before it. */
  order: number;
  retry: (() => void) | undefined;
}
let shown = $state.raw<Shown[]>([]);
/** The same. A part that leaves the page would read in `shown` what was there before the others of its turn came. */
let all: Shown[] = [];
let made = 0;
export const nextOrder = () => ++made;

/** Until the returned function is called. */
export function report(one: Shown): () => void {
  shown = all = [...all, one];
  return () => (shown = all = all.filter((other) => other !== one));
}

export const isTold = (one: Shown) => shown.some((other) => other.key === one.key && other.order < one.order);
export const retryAll = (key: string) => shown.filter((one) => one.key === key).forEach((one) => one.retry?.());

export const troubles = {
  /** What a page shows does not follow: the server, or its database, is away. */
  get isStale() {
    return shown.some((one) => one.isPassing);
  },
};
