// What a program does with the client in JavaScript: client.mjs COMMAND (EBB_URL, EBB_TOKEN, EBB_CLIENT).
// Each prints one JSON value; client.py prints the same.

const { Client, Problem } = await import(process.env.EBB_CLIENT);
const client = new Client(process.env.EBB_URL, { token: process.env.EBB_TOKEN, patience: 120_000 });

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

async function codeOf(call) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

const isSame = (left, right) => JSON.stringify(left) === JSON.stringify(right);
const ids = (instances) => instances.map(({ id }) => id);

const commands = {
  async lists() {
    const labels = { customer: 'acme', vip: true };
    const started = [];
    for (let n = 0; n < 105; n++) {
      started.unshift(await client.start('adding', { a: n, b: 0 }, n < 2 ? { labels } : {}));
    }
    await client.start('deciding', null, { key: 'other' });
    return {
      all: isSame(ids(await all(client.list({ workflow: 'adding' }))), started),
      two: isSame(ids(await all(client.list({ workflow: 'adding', limit: 2 }))), started.slice(0, 2)),
      label: (await all(client.list({ labels: { customer: 'acme' } }))).map((each) => each.labels),
      where: (await all(client.list({ where: 'labels.vip == true' }))).length,
      key: (await all(client.list({ key: 'other', status: ['running', 'failed'] }))).map((each) => each.workflow),
      none: await all(client.list({ status: 'failed' })),
    };
  },
  async decides() {
    const id = await client.start('deciding');
    const refused = await codeOf(client.decide(id, 'confirm', { role: 'stranger' }));
    const how = { role: 'boss', comment: 'looks good', by: 'ann', requestId: '1' };
    await client.decide(id, 'confirm', how);
    await client.decide(id, 'confirm', how);
    return { refused, status: (await client.result(id)).status, id };
  },
  async steers() {
    const first = await client.start('deciding');
    const second = await client.start('deciding');
    const { changed, status, revision } = await client.pause(first, 'bank is down');
    return {
      paused: [changed, status, (await client.pause(first)).changed],
      resumed: (await client.resume(first, { revision })).status,
      stale: await codeOf(client.cancel(first, 'late', { revision })),
      cancelled: [(await client.cancel(first, 'ordered twice')).changed, (await client.result(first)).status],
      aborted: (await client.abort(second, 'test data')).status,
      unknown: await codeOf(client.resume('key:deciding/none')),
    };
  },
  async requeues() {
    const id = await client.start('freezing');
    for await (const event of client.events(id)) if (event.type === 'step_failed') break;
    await client.requeue(id, { input: { a: 1, b: 2 } });
    return (await client.result(id)).output;
  },
  async reruns() {
    const old = await client.start('freezing', { a: 1, b: 2 }, { labels: { tenant: 'acme' } });
    await client.result(old);
    const id = await client.rerun(old);
    const options = { input: { a: 5, b: 5 }, key: 'once', version: 1 };
    const keyed = [await client.rerun(old, options), await client.rerun(old, options)];
    const { 'ebb.rerun_of': link, ...labels } = (await client.show(id)).labels;
    return {
      same: (await client.result(id)).output,
      labels,
      is_linked: link === old,
      is_new: id !== old,
      other: (await client.result(keyed[0])).output,
      is_once: keyed[0] === keyed[1],
    };
  },
  async watches() {
    const id = await client.start('deciding');
    const numbers = [];
    for await (const event of client.events(id)) {
      numbers.push(event.seq);
      if (event.type === 'decision_awaited') await client.decide(id, 'confirm', { role: 'boss' });
    }
    const last = (await all(client.events(id, { after: numbers.at(-2) }))).map(({ seq }) => seq);
    return { id, numbers, rest: isSame(last, numbers.slice(-1)) };
  },
};

console.log(JSON.stringify(await commands[process.argv[2]]()));
