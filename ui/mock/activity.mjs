// What started and ended by spans of time, as the server counts it, of the instances of the mock.
const MINUTE = 6e4;
const WINDOWS = { '1h': ['1m', MINUTE, 60], '6h': ['5m', 5 * MINUTE, 72], '24h': ['30m', 30 * MINUTE, 48], '7d': ['3h', 180 * MINUTE, 56], '30d': ['12h', 720 * MINUTE, 60] };
const COUNTS = ['started', 'completed', 'failed', 'cancelled', 'aborted', 'dead_letters', 'compensated', 'steps'];

const quantile = (sorted, share) => (sorted.length ? Number((sorted[Math.ceil(share * sorted.length) - 1] / 1000).toPrecision(3)) : null);

function series(rows, from, width, count) {
  const cells = Array.from({ length: count }, () => ({ ...Object.fromEntries(COUNTS.map((name) => [name, 0])), durations: [], delays: [] }));
  const note = (time, change) => {
    const at = Math.floor((Date.parse(time) - from) / width);
    if (at >= 0 && at < count) change(cells[at]);
  };
  for (const row of rows) {
    note(row.created_at, (cell) => (cell.started += 1));
    if (row.status === 'dead_letter') note(row.updated_at, (cell) => (cell.dead_letters += 1));
    if (!row.finished_at) continue;
    note(row.finished_at, (cell) => {
      cell[row.status] += 1;
      cell.steps += row.steps.length;
      if (row.status !== 'completed' && row.steps.some((step) => step.status === 'compensated')) cell.compensated += 1;
      if (row.status === 'completed') cell.durations.push(Date.parse(row.finished_at) - Date.parse(row.created_at));
      cell.delays.push(...row.steps.map((_, i) => 12 + ((Date.parse(row.finished_at) / 1000 + 37 * i) % 160)));
    });
  }
  const quantiles = (cells) => {
    const [durations, delays] = ['durations', 'delays'].map((name) => cells.flatMap((cell) => cell[name]).sort((a, b) => a - b));
    return { p50_seconds: quantile(durations, 0.5), p95_seconds: quantile(durations, 0.95), start_delay_p50_seconds: quantile(delays, 0.5), start_delay_p95_seconds: quantile(delays, 0.95) };
  };
  const total = { ...Object.fromEntries(COUNTS.map((name) => [name, cells.reduce((sum, cell) => sum + cell[name], 0)])), ...quantiles(cells) };
  const buckets = Object.fromEntries(COUNTS.map((name) => [name, cells.map((cell) => cell[name])]));
  for (const name of ['p50_seconds', 'p95_seconds', 'start_delay_p50_seconds', 'start_delay_p95_seconds']) buckets[name] = cells.map((cell) => quantiles([cell])[name]);
  return { total, buckets };
}

/** `control.counting`: so many answers more say that not all is counted yet. */
export function activity(world, query, control) {
  const is_counting = control.counting > 0;
  if (is_counting) control.counting -= 1;
  const [step, width, count] = WINDOWS[query.get('window') ?? '24h'];
  const until = Math.ceil(Date.now() / width) * width;
  const from = until - count * width;
  const wanted = query.get('workflow');
  const rows = world.instances.filter((row) => !wanted || row.workflow === wanted);
  const workflows = [...new Set(rows.map((row) => row.workflow))].map((workflow) => ({ workflow, ...series(rows.filter((row) => row.workflow === workflow), from, width, count) }));
  const events = ({ total }) => total.started + total.completed + total.failed + total.dead_letters;
  const iso = (time) => new Date(time).toISOString();
  return { from: iso(from), until: iso(until), step, complete: !is_counting, counted_from: is_counting ? iso(from) : null, ends_left_out: false, workflows_left_out: 0, all: series(rows, from, width, count), workflows: workflows.filter((one) => events(one) > 0).sort((a, b) => events(b) - events(a)) };
}
