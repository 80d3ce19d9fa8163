// Whether rows of the audit are as they were written: each names the hash of the row before it in its chain. The same as
// `ebb audit --verify`, for the rows that are shown.
import type { Schemas } from '../api/client';

export type AuditRow = Schemas['AuditRow'];
export type Fault = { kind: 'changed' | 'link' | 'doubled' } | { kind: 'removed'; rows: number };

/** A page that is neither of this machine nor over HTTPS cannot hash. */
export const canHash = () => globalThis.crypto?.subtle !== undefined;

/** The time of a row in µs: the whole seconds by the calendar, the rest by its digits. */
const micros = (at: string) => Math.floor(Date.parse(at) / 1000) * 1_000_000 + Number((/\.(\d+)/.exec(at)?.[1] ?? '').padEnd(6, '0').slice(0, 6));

export async function hashOf(row: AuditRow): Promise<string> {
  const text = JSON.stringify([
    row.id, micros(row.at), row.principal, row.credential, row.remote, row.request_id, row.action, row.target, row.workflow ?? '', row.outcome,
    JSON.stringify(row.detail), row.chain, row.number,
  ]);
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${row.prev}\n${text}`));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What is wrong with the rows, by id, of which the newest comes first. With a filter rows in between are not there. */
export async function faultsOf(rows: AuditRow[], is_filtered: boolean): Promise<Map<string, Fault>> {
  const faults = new Map<string, Fault>();
  const hashes = await Promise.all(rows.map(hashOf));
  const later = new Map<string, AuditRow>();
  for (const [i, row] of rows.entries()) {
    if (hashes[i] !== row.hash) faults.set(row.id, { kind: 'changed' });
    const after = later.get(row.chain);
    later.set(row.chain, row);
    if (!after || is_filtered || faults.has(after.id)) continue;
    if (after.number <= row.number) faults.set(after.id, { kind: 'doubled' });
    else if (after.number > row.number + 1) faults.set(after.id, { kind: 'removed', rows: after.number - row.number - 1 });
    else if (after.prev !== row.hash) faults.set(after.id, { kind: 'link' });
  }
  return faults;
}
