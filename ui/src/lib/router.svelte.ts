// The address is the state: page, tab, filter and selection are in it, so that every view can be sent to a colleague.
import { base } from './base';

export interface Route {
  /** Without the base path, decoded: ['instances', '019…']. */
  parts: string[];
  query: URLSearchParams;
}

function read(): Route {
  const path = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : '';
  const parts = path.split('/').filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { parts, query: new URLSearchParams(location.search) };
}

let current = $state.raw<Route>(read());

export const route = {
  get parts() {
    return current.parts;
  },
  get query() {
    return current.query;
  },
};

/** The address of a page: href('instances', id) with a query if any. Empty values of the query are left out. */
export function href(parts: (string | number)[], query: Record<string, string | number | undefined | null> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return base + parts.map((part) => encodeURIComponent(part)).join('/') + (text ? `?${text}` : '');
}

export function go(to: string, replace = false) {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  const before = current.parts.join('/');
  current = read();
  if (replace || current.parts.join('/') === before) return;
  scrollTo(0, 0);
  // The keyboard and a screen reader begin with the new page, not in the middle of what took its place.
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** Changes some parameters of the address and keeps the others. */
export function setQuery(changes: Record<string, string | null | undefined>, replace = true) {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  go(location.pathname + (text ? `?${text}` : ''), replace);
}

export function startRouter() {
  addEventListener('popstate', () => (current = read()));
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.shiftKey || event.altKey) return;
    const leading = leadOf(event);
    if (event.metaKey || event.ctrlKey) return openBeside(leading);
    const link = leading ?? ((event.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null);
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(base) || link.pathname.startsWith(`${base}api/`)) return;
    event.preventDefault();
    go(link.href);
  });
  document.addEventListener('auxclick', (event) => {
    if (event.button === 1 && !event.defaultPrevented) openBeside(leadOf(event));
  });
}

/** A row is opened as the link that leads it, wherever one clicks; not by what has an act of its own, and not by the end of
 * a selection of text. */
function leadOf(event: MouseEvent): HTMLAnchorElement | null {
  const target = event.target as Element | null;
  const row = target?.closest?.('tbody tr, li.item');
  if (!row || target!.closest('a, button, input, select, label, summary, .check') || getSelection()?.toString()) return null;
  return row.querySelector<HTMLAnchorElement>('.lead a[href]');
}

function openBeside(link: HTMLAnchorElement | null) {
  if (link) open(link.href, '_blank', 'noopener');
}
