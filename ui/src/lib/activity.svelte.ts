// What started and ended by spans of time, as charts and tables show it.
import { query, type Activity, type Schemas } from '../api/client';
import { Resource } from '../api/resource.svelte';
import { subscribe } from '../api/live.svelte';
import { route } from './router.svelte';
import { can, throttled } from './session.svelte';

export type ActivitySeries = Schemas['ActivitySeries'];
export type ActivityBuckets = Schemas['ActivityBuckets'];

/** The windows that a page offers: the server keeps each in steps of its own. */
export const WINDOWS = ['1h', '6h', '24h', '7d', '30d'] as const;
export type Window = (typeof WINDOWS)[number];
export const windowOf = (text: string | null): Window => WINDOWS.find((one) => one === text) ?? '24h';

const STEPS: Record<Activity['step'], number> = { '1m': 6e4, '5m': 3e5, '30m': 18e5, '3h': 108e5, '12h': 432e5 };
export const stepOf = (activity: Activity) => STEPS[activity.step];
/** When the bucket begins. */
export const bucketTime = (activity: Activity, i: number) => Date.parse(activity.from) + i * stepOf(activity);

export const failedOf = (counts: { failed: number; dead_letters: number }) => counts.failed + counts.dead_letters;
export const stoppedOf = (counts: { cancelled: number; aborted: number }) => counts.cancelled + counts.aborted;
export const add = (one: readonly number[], other: readonly number[]) => one.map((value, i) => value + (other[i] ?? 0));
export const isEmpty = (series: ActivitySeries) => !(series.total.started + series.total.completed + failedOf(series.total) + stoppedOf(series.total));

/** A round number, not below `value`: what an axis ends with. Its half is a whole number, too, if it is above 1. */
export function niceMax(value: number): number {
  if (value <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10].map((times) => Math.round(times * unit)).find((one) => one >= value && one % 2 === 0)!;
}

/** Where durations stand on an axis that is as wide for ten times as much, whatever it begins with: 0 to 1. */
export function logScale(values: readonly (number | null)[]): { least: number; most: number; at: (seconds: number) => number } {
  const known = values.filter((value): value is number => value !== null && value > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...known, 1e6)));
  const most = Math.max(...known, least * 10);
  return { least, most, at: (seconds) => Math.max(0, Math.log10(Math.max(seconds, least) / least) / Math.log10(most / least)) };
}

/** So many columns that a small picture can show, each the sum of its buckets. */
export function folded(values: readonly number[], columns: number): number[] {
  const width = Math.ceil(values.length / columns) || 1;
  const sums: number[] = [];
  values.forEach((value, i) => (sums[Math.floor(i / width)] = (sums[Math.floor(i / width)] ?? 0) + value));
  return sums;
}

/** How many runs must have completed before "usual" means anything. */
export const USUAL_MIN = 20;
/** The 95th percentile that an instance has exceeded, in milliseconds; none if it has not, or if too few have completed. */
export function exceeded(total: Schemas['ActivityCounts'], ms: number): number | undefined {
  const p95 = (total.p95_seconds ?? Infinity) * 1000;
  return total.completed >= USUAL_MIN && ms > p95 ? p95 : undefined;
}

/** In a component: the activity of all, or of one workflow, in the window of the address. Follows what happens. */
export function activityOf(workflow: () => string, is_shown: () => boolean = () => true): Resource<Activity> {
  const activity = new Resource<Activity>(() => (can('stats.read') && is_shown() ? '/stats/activity' + query({ window: windowOf(route.query.get('window')), workflow: workflow() }) : ''));
  $effect(() => subscribe('stats', throttled(() => void activity.refresh(), 5000, true)));
  // While the server counts back, each request brings it further.
  $effect(() => {
    if (!activity.data?.counted_from) return;
    const timer = setTimeout(() => void activity.refresh(), 1000);
    return () => clearTimeout(timer);
  });
  return activity;
}
