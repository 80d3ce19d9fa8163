// The worker of the conformance kit in JavaScript: worker.mjs FOLDER (EBB_URL, EBB_TOKEN, EBB_WORKER_ID, EBB_CLIENT).
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const { Client, Failure, Worker } = await import(process.env.EBB_CLIENT);

const folder = process.argv[2];
// Logs in by a `fetch` of its own, as with a client certificate.
const { EBB_TOKEN: token } = process.env;
const send = (url, init) => fetch(url, token ? { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } } : init);
const patience = 1000 * Number(process.env.EBB_PATIENCE ?? 120);
const worker = new Worker(new Client(process.env.EBB_URL, { fetch: send, patience }), {
  workerId: process.env.EBB_WORKER_ID,
  slots: Number(process.env.EBB_SLOTS ?? 2),
  lease: 1000 * Number(process.env.EBB_LEASE ?? 4),
});
const note = (name, line) => appendFileSync(join(folder, name), `${line}\n`);
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
const mayGo = () => existsSync(join(folder, 'go'));

worker.add('add', (value) => ({ sum: value.a + value.b }));
worker.add('flaky', (value, { task }) => {
  note('flaky', `${task.attempt} ${task.idempotency_key}`);
  if (task.attempt === 1) throw new Failure('not yet', { code: 'busy', retryAfter: 10, details: { attempt: 1 } });
  return { attempt: task.attempt };
});
worker.add('refuse', () => {
  throw new Failure('never', { code: 'no_amount', permanent: true });
});
worker.add('ask', (value, context) => {
  if (context.task.payload === null) context.pause();
  return { answer: context.task.payload, pauses: context.task.pauses };
});
worker.add('hold', async (value, context) => {
  note('hold', `${context.task.attempt} ${context.task.idempotency_key}`);
  while (!mayGo()) {
    await pause();
    if (context.signal.aborted) {
      note('stopped', context.task.attempt);
      context.heartbeat();
    }
  }
  return { attempt: context.task.attempt };
});
worker.add('tell', async (value, context) => {
  context.log('half of it', 'warning');
  context.progress({ percent: 50 });
  while (!mayGo()) await pause();
  return null;
});
worker.add('odd', (value, context) => {
  if (value === 'message') throw new Error('a\0b\ud800c' + 'é'.repeat(60_000));
  if (value === 'code') throw new Failure('the shop is closed', { code: 'c'.repeat(65) });
  if (value === 'details') throw new Failure('the shop is closed', { code: 'c', details: '\ud800' });
  if (value === 'exit') throw 'leaves';
  context.log('\0' + 'é'.repeat(9_000));
  return { surrogate: '\ud800', number: 1n, large: 'x'.repeat(1 << 20) }[value];
});
worker.add('undo', (value, { task }) => {
  note('undo', `${task.is_compensation ? 'True' : 'False'} ${value.output.sum}`);
});

process.on('SIGTERM', () => worker.stop());
await worker.run();
