// A resource that a page shows: loads when its address changes, keeps what it has while it loads again, and says since
// when what it shows is stale.
import { call, Problem } from './client';

export class Resource<T> {
  data = $state.raw<T | undefined>();
  problem = $state.raw<Problem | undefined>();
  isLoading = $state(false);
  /** When `data` came, by this browser's clock. */
  at = $state(0);
  etag = '';
  #abort: AbortController | undefined;
  #path = '';

  /** In a component: `new Resource(() => path)`; an empty path loads nothing. */
  constructor(source: () => string) {
    $effect(() => {
      const path = source();
      if (path !== this.#path) {
        this.#path = path;
        this.data = undefined;
        this.problem = undefined;
        this.etag = '';
      }
      void this.refresh();
      return () => this.#abort?.abort();
    });
  }

  async refresh() {
    this.#abort?.abort();
    if (!this.#path) return;
    const abort = (this.#abort = new AbortController());
    this.isLoading = true;
    try {
      const answer = await call<T>(this.#path, { signal: abort.signal });
      // An answer may be there before its request is given up: it belongs to an address that is not shown any more.
      if (abort.signal.aborted) return;
      this.data = answer.data;
      this.etag = answer.etag;
      this.problem = undefined;
      this.at = Date.now();
    } catch (error) {
      if (abort.signal.aborted) return;
      this.problem = error instanceof Problem ? error : new Problem(0, 'internal', String(error));
    }
    if (this.#abort === abort) this.isLoading = false;
  }
}
