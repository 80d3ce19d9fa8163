// How times, durations, sizes and identifiers read in the language of the UI. The time and the zone are parameters.
import { t } from '../text';

export type Zone = 'local' | 'utc';

const fixed = (value: number) => value.toFixed(1).replace('.', t.unit.point);
const pad = (value: number, width = 2) => String(value).padStart(width, '0');

/** `1.2 s`, `3 m 04 s`, `2 d 4 h`: two units at most, and as many digits as one can use. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '';
  const { unit } = t;
  const sign = ms < 0 ? '−' : '';
  const abs = Math.abs(ms);
  if (abs < 1) return abs === 0 ? `0 ${unit.s}` : `${sign}<1 ${unit.ms}`;
  if (abs < 1000) return `${sign}${Math.round(abs)} ${unit.ms}`;
  const seconds = abs / 1000;
  if (seconds < 9.95) return `${sign}${fixed(seconds)} ${unit.s}`;
  if (seconds < 59.5) return `${sign}${Math.round(seconds)} ${unit.s}`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)} ${unit.m} ${pad(whole % 60)} ${unit.s}`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 1440) return `${sign}${Math.floor(minutes / 60)} ${unit.h} ${pad(minutes % 60)} ${unit.m}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24 * 100) return `${sign}${Math.floor(hours / 24)} ${unit.d} ${hours % 24} ${unit.h}`;
  return `${sign}${Math.floor(hours / 24)} ${unit.d}`;
}

/** One unit only, for "4 m ago" in dense tables. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} ${t.unit.s}`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} ${t.unit.m}`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} ${t.unit.h}`;
  return `${Math.floor(seconds / 86400)} ${t.unit.d}`;
}

/** `2026-11-22 18:20:00`, in the zone of choice; with `millis`, `18:20:00.123`. */
export function timestamp(time: string | number, zone: Zone, millis = false): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return String(time);
  const get = zone === 'utc'
    ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
    : [at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()];
  const [year, month, day, hour, minute, second] = get as [number, number, number, number, number, number];
  const tail = millis ? `.${pad(at.getUTCMilliseconds(), 3)}` : '';
  return `${year}-${pad(month + 1)}-${pad(day)} ${pad(hour)}:${pad(minute)}:${pad(second)}${tail}`;
}

export function timeOfDay(time: string | number, zone: Zone, millis = false): string {
  return timestamp(time, zone, millis).slice(11);
}

const dayOf = (time: number, zone: Zone) => timestamp(time, zone).slice(0, 10);
export const isOneDay = (from: number, to: number, zone: Zone) => dayOf(from, zone) === dayOf(to, zone);

/** The words of an axis with these times, in their order: `18:20:00`, and `11-23 07:00:00` for the first one of a day, if
 * the axis from `from` to `to` is longer than one. */
export function axisTimes(times: number[], from: number, to: number, zone: Zone, millis = false): string[] {
  const is_short = isOneDay(from, to, zone);
  return times.map((time, i) => {
    const is_same = is_short || (i > 0 && isOneDay(times[i - 1]!, time, zone));
    return `${is_same ? '' : `${dayOf(time, zone).slice(5)} `}${timeOfDay(time, zone, millis)}`;
  });
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} ${t.unit.B}`;
  if (count < 1e6) return `${fixed(count / 1000)} ${t.unit.kB}`;
  return `${fixed(count / 1e6)} ${t.unit.MB}`;
}

/** An id as tables show it: UUIDv7 begins with the time, so the end tells two of them apart. */
export function shortId(id: string): string {
  return /^[0-9a-f-]{36}$/.test(id) ? `…${id.slice(-6)}` : id;
}

export function sum(counts: Record<string, number> | undefined, ...names: string[]): number {
  if (!counts) return 0;
  return (names.length ? names : Object.keys(counts)).reduce((total, name) => total + (counts[name] ?? 0), 0);
}
