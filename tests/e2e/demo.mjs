// `ebb serve --demo` from memory: a month of sample data.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Starts it on a free port. `url` is its address, `login` a link that logs in as the admin. */
export async function startDemo(ebb) {
  const server = spawn(ebb, ['serve', '--demo', '--json', '--login-link', '--db', 'memory:', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, USER: 'ann' } });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const { url, login } = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => resolve(JSON.parse(line)));
    void ended.then((code) => reject(new Error(`ebb serve ended with ${code}`)));
  });
  const close = () => {
    server.kill('SIGTERM');
    return ended;
  };
  return { url, login, close };
}
