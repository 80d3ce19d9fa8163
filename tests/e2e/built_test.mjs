// What the UI is built from and what comes out: two builds in two folders give the same bytes, and the types that it is
// compiled with are those of the API's document.
import './packages.mjs';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../', import.meta.url));
let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'ebb-built-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function run(command, args, env = {}) {
  const done = spawnSync(command, args, { cwd: source, encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 1 << 26 });
  assert.equal(done.status, 0, `${command} ${args.join(' ')}: ${done.stderr}${done.stdout}`);
  return done.stdout;
}

test('two builds in two folders give the same bytes', () => {
  const built = ['one', 'two'].map((name, i) => {
    const out = join(folder, name);
    // Neither the language of the machine nor its zone is in the files.
    run(process.execPath, ['ui/scripts/build.mjs', out], i ? { LC_ALL: 'C.UTF-8', TZ: 'Asia/Tokyo' } : { LC_ALL: 'C', TZ: 'UTC' });
    return ['assets.bin', 'assets_table.inc', 'sizes.json'].map((file) => readFileSync(join(out, file)));
  });
  assert.ok(built[0][0].length > 100_000, 'the build has files');
  built[0].forEach((bytes, i) => assert.ok(bytes.equals(built[1][i]), `file ${i} differs`));
});

test("the types are those of the API's document", () => {
  const document = join(folder, 'openapi.json');
  writeFileSync(document, run('python3', ['cmake/openapi.py', 'schema/openapi']));
  const made = join(folder, 'schema.d.ts');
  run(process.execPath, ['ui/node_modules/openapi-typescript/bin/cli.js', document, '-o', made]);
  const wrong = 'schema/openapi has changed since ui/src/api/schema.d.ts was made; `./dev ui types` makes it again';
  assert.ok(readFileSync(made).equals(readFileSync(join(source, 'ui/src/api/schema.d.ts'))), wrong);
});
