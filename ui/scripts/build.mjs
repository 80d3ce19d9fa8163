// Builds the UI for embedding: packages (if the lock file has changed), types, the type check, Vite, and the pack.
// Usage: build.mjs OUT [--check | --optional]. CMake and `./dev ui` call it. With --optional, packages that npm cannot
// fetch are not an error: what is written then is a UI without files, and the next build tries again.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'dist'));
const is_optional = process.argv.includes('--optional');
// What npm says when the registry does not answer, as against a lock file that is wrong.
const UNREACHABLE = /code (E[45]\d\d|EAI_AGAIN|ECONN\w+|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EPROTO|ETIMEDOUT|ERR_SOCKET\w*|FETCH_ERROR|\w*CERT\w*)\b/;

function write_nothing() {
  mkdirSync(out, { recursive: true });
  rmSync(join(out, 'dist'), { recursive: true, force: true });
  rmSync(join(out, 'sizes.json'), { force: true });
  for (const name of ['assets.bin', 'assets_table.inc']) {
    writeFileSync(join(out, name), '');
    utimesSync(join(out, name), 1, 1);
  }
}

function run(command, args, env = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  if (done.status === 0) return;
  const code = UNREACHABLE.exec(String(done.stderr ?? ''))?.[1];
  if (command === 'npm' && is_optional && code) {
    console.error(`ui: npm could not fetch the packages of the web UI (${code}), so this build has no web UI.`);
    write_nothing();
    throw new Error('skipped');
  }
  process.stderr.write(String(done.stdout ?? '') + String(done.stderr ?? ''));
  console.error(`ui: "${command} ${args.join(' ')}" failed (${done.error?.message ?? `status ${done.status}`}).`);
  if (command === 'npm') console.error('ui: to build Ebb without its web UI, configure with -DEBB_UI=OFF.');
  process.exitCode = 1;
  throw new Error('stopped');
}

/** Two build folders share node_modules: one installs, the other waits. */
function withLock(action) {
  const lock = join(root, '.install-lock');
  const deadline = Date.now() + 300_000;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const is_stale = existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 300_000;
      if (is_stale || Date.now() > deadline) rmdirSync(lock);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    action();
  } finally {
    rmdirSync(lock);
  }
}

function install() {
  const major = process.versions.node.split('.')[0];
  const wanted = createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).update(major).digest('hex');
  const stamp = join(root, 'node_modules', '.ebb-lock');
  const is_current = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (is_current()) return;
  withLock(() => {
    if (is_current()) return;
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=2000']);
    writeFileSync(stamp, wanted);
  });
}

process.on('uncaughtException', (error) => {
  if (error.message === 'skipped') process.exit(0);
  if (error.message !== 'stopped') console.error(error);
  process.exit(1);
});
install();
const bin = (name) => join('node_modules', name);
if (process.argv.includes('--check')) run('node', [bin('svelte-check/bin/svelte-check'), '--fail-on-warnings', '--output', 'human']);
run('node', [bin('vite/bin/vite.js'), 'build', '--logLevel', 'warn'], { EBB_UI_OUT: join(out, 'dist') });
const pack = spawnSync('node', [join(root, 'scripts/pack.mjs'), join(out, 'dist'), out], { stdio: 'inherit' });
process.exit(pack.status ?? 1);
