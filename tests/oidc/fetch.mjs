// Fetches the OpenID provider of the tests with npm, at the exact versions of the lock file. Usage: fetch.mjs OUT. Exit
// code 77: npm could not reach its registry.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const UNREACHABLE = /code (E[45]\d\d|EAI_AGAIN|ECONN\w+|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EPROTO|ETIMEDOUT|ERR_SOCKET\w*|FETCH_ERROR|\w*CERT\w*)\b/;
const FILES = ['package.json', '.npmrc', 'package-lock.json'];
const source = fileURLToPath(new URL('.', import.meta.url));
const out = resolve(process.argv[2]);
const is_same = (name) => existsSync(join(out, name)) && readFileSync(join(out, name)).equals(readFileSync(join(source, name)));

// The lock file is copied last, so a fetch that was interrupted is repeated.
if (!is_same('package-lock.json')) {
  mkdirSync(out, { recursive: true });
  for (const name of FILES) copyFileSync(join(source, name), join(out, name));
  const done = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: out, encoding: 'utf8' });
  if (done.status !== 0) {
    const words = `${done.stdout}${done.stderr}`;
    process.stderr.write(words);
    spawnSync('rm', ['-f', join(out, 'package-lock.json')]);
    process.exit(UNREACHABLE.test(words) ? 77 : 1);
  }
}
