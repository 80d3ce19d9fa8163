// Runs one instance of greet.yaml: greet.mjs [URL], and EBB_TOKEN if the server needs one.
import { Client, Worker } from 'ebb-client';

const client = new Client(process.argv[2] ?? 'http://127.0.0.1:8322', { token: process.env.EBB_TOKEN });
const worker = new Worker(client);

worker.add('greet', (name, context) => {
  context.log(`greeting ${name}`);
  return `Hello, ${name}!`;
});
worker.add('remember', (answer) => ({ remembered: answer }));

const running = worker.run();
const instance = await client.start('greet', 'Ann');
await client.signal(instance, 'answer', 'Hello, worker!');
console.log((await client.result(instance)).output);
worker.stop();
await running;
