// A real `ebb serve` that lets an OpenID provider log people in; the group `finance` may look after instances.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

const EBB = process.env.EBB_COMMAND;
const env = { ...process.env, EBB_DB: '' };

/** `folder` has the file `secret`. */
export async function startEbb(folder, issuer) {
  const args = ['serve', '--json', '--no-worker', '--db', 'sqlite:ebb.db', '--listen', '127.0.0.1:0', '--requests-per-second', '0',
    '--oidc-issuer', issuer, '--oidc-client-id', 'ebb', '--oidc-client-secret-file', 'secret', '--oidc-name', 'Example ID'];
  const child = spawn(EBB, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout });
  const home = await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const entry = JSON.parse(line);
      if (entry.event === 'serving') resolve(entry.url);
    });
    void ended.then((code) => reject(new Error(`ebb serve ended with ${code}`)));
  });
  const grant = ['grant', 'set', 'finance', '--subject', 'group:finance', '--role', 'operator', '--db', 'sqlite:ebb.db'];
  const done = spawnSync(EBB, grant, { cwd: folder, encoding: 'utf8', env });
  assert.equal(done.status, 0, done.stderr);
  return {
    home,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
