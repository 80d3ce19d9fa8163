// Fetches a real VS Code for the tests: the server of npm's code-server, which needs no window and no compiler here, because
// what it builds natively (logs, terminals, passwords) is not used. Usage: fetch.mjs OUT. Exit code 77: npm could not reach
// its registry.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const VERSION = '4.100.3'; // VS Code 1.100.3; later ones need a later Node
const INTEGRITY = 'sha512-q/Fh2DOxCRNhC/WiG/6sAhSKnj7ZACTVBaeeZ+rWjol//0FCbl/qg1ln5ecZ99jYcfqMxZZAyWcN+YBIo0DgpA==';
const UNREACHABLE = /code (E[45]\d\d|EAI_AGAIN|ECONN\w+|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EPROTO|ETIMEDOUT|ERR_SOCKET\w*|FETCH_ERROR|\w*CERT\w*)\b/;

const out = resolve(process.argv[2]);
const stamp = join(out, `fetched-${VERSION}`);

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status === 0) return;
  const words = String(done.stdout ?? '') + String(done.stderr ?? '');
  process.stderr.write(words);
  console.error(`vscode: "${command} ${args.join(' ')}" failed.`);
  process.exit(command === 'npm' && UNREACHABLE.test(words) ? 77 : 1);
}

function unpack() {
  const archive = join(out, `code-server-${VERSION}.tgz`);
  run('npm', ['pack', `code-server@${VERSION}`, '--pack-destination', out], out);
  const found = 'sha512-' + createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (found !== INTEGRITY) {
    console.error(`vscode: ${archive} is not the one that the tests were written for (${found}).`);
    process.exit(1);
  }
  run('tar', ['-xzf', archive, '-C', out, '--strip-components=3', 'package/lib/vscode'], out);
  rmSync(archive);
}

if (!existsSync(stamp)) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major !== 20) {
    console.error(`vscode: code-server ${VERSION} runs on Node 20, and this is Node ${process.versions.node}.`);
    process.exit(1);
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  unpack();
  // Not `npm ci`: its shrinkwrap does not quite fit its package.json, and what does fit has exact versions and integrities.
  run('npm', ['install', '--no-save', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1'], out);
  symlinkSync('node_modules', join(out, 'node_modules.asar'));
  writeFileSync(stamp, '');
}
