// Builds the extension: packages (if the lock file has changed), types, bundles, and the folder that pack.py makes the
// .vsix of. Usage: build.mjs OUT; OUT/extension is written anew. `./dev vsix` calls it. Exit code 77: npm could not
// reach its registry.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? 'build/vscode');
const UNREACHABLE = /code (E[45]\d\d|EAI_AGAIN|ECONN\w+|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EPROTO|ETIMEDOUT|ERR_SOCKET\w*|FETCH_ERROR|\w*CERT\w*)\b/;

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status === 0) return;
  const words = String(done.stdout ?? '') + String(done.stderr ?? '');
  process.stderr.write(words);
  console.error(`vscode: "${command} ${args.join(' ')}" failed.`);
  process.exit(command === 'npm' && UNREACHABLE.test(words) ? 77 : 1);
}

/** The packages are installed below OUT, so that two build folders do not disturb each other. */
function install(work) {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const wanted = createHash('sha256').update(lock).update(process.versions.node).digest('hex');
  const stamp = join(work, 'node_modules', '.ebb-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) copyFileSync(join(root, name), join(work, name));
  run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--fetch-retries=1'], work);
  writeFileSync(stamp, wanted);
}

/** The licenses of what is in the bundle. */
function notices(inputs, work) {
  const folders = new Set(inputs.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(work, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(work, folder)).find((one) => /^licen[cs]e/i.test(one));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(work, folder, file), 'utf8').trim() : ''}\n`;
  });
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

const work = join(out, 'work');
const stage = join(out, 'extension');
mkdirSync(work, { recursive: true });
install(work);
for (const folder of ['src', 'webview']) {
  rmSync(join(work, folder), { recursive: true, force: true });
  cpSync(join(root, folder), join(work, folder), { recursive: true });
}
copyFileSync(join(root, 'tsconfig.json'), join(work, 'tsconfig.json'));
run('node', [join('node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'], work);

rmSync(stage, { recursive: true, force: true });
mkdirSync(join(stage, 'out'), { recursive: true });
// As a program: scripts of packages do not run, so the library has not looked for its program.
const esbuild = (...args) => run(join(work, 'node_modules', '.bin', 'esbuild'), args, work);
const common = ['--bundle', '--minify', '--log-level=warning', '--legal-comments=none'];
esbuild('src/extension.ts', ...common, '--platform=node', '--format=cjs', '--target=node18', '--external:vscode', '--metafile=meta.json', `--outfile=${join(stage, 'out/extension.js')}`);
for (const name of ['page', 'instance']) {
  esbuild(`webview/${name}.ts`, ...common, '--format=iife', '--target=chrome122', `--outfile=${join(stage, `out/${name}.js`)}`);
  esbuild(`webview/${name}.css`, '--minify', `--outfile=${join(stage, `out/${name}.css`)}`);
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
for (const key of ['private', 'dependencies', 'devDependencies']) delete manifest[key];
writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest, null, 2) + '\n');
for (const name of ['README.md', 'language-configuration.json', 'syntaxes', 'snippets', 'media']) cpSync(join(root, name), join(stage, name), { recursive: true });
copyFileSync(join(root, '../../LICENSE'), join(stage, 'LICENSE.txt'));
copyFileSync(join(root, '../../schema/workflow.schema.json'), join(stage, 'workflow.schema.json'));
const { inputs } = JSON.parse(readFileSync(join(work, 'meta.json'), 'utf8'));
writeFileSync(join(stage, 'ThirdPartyNotices.txt'), notices(Object.keys(inputs), work));
