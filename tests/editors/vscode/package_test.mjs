// The package of the VS Code extension: what is in it, its size, that it is built the same twice, and that its texts agree
// with the sources. EBB_VSIX names the file that is made, EBB_WORK_DIR a folder for the second one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../../../editors/vscode', import.meta.url));
const { EBB_VSIX, EBB_WORK_DIR } = process.env;
const read = (name) => readFileSync(join(source, name), 'utf8');
const manifest = JSON.parse(read('package.json'));

function run(command, ...args) {
  const done = spawnSync(command, args, { encoding: 'utf8' });
  if (done.status === 77) {
    console.error('npm could not fetch the packages of the extension.');
    process.exit(77);
  }
  assert.equal(done.status, 0, done.stdout + done.stderr);
  return done.stdout;
}

before(() => {
  const out = dirname(EBB_VSIX);
  mkdirSync(EBB_WORK_DIR, { recursive: true });
  run(process.execPath, join(source, 'scripts/build.mjs'), out);
  run('python3', '-B', join(source, 'scripts/pack.py'), join(out, 'extension'), EBB_VSIX);
});

test('the package has these files and at most 200 kB', () => {
  const names = run('python3', '-c', 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))', EBB_VSIX);
  const wanted = ['extension.vsixmanifest', '[Content_Types].xml', ...[
    'LICENSE.txt', 'README.md', 'ThirdPartyNotices.txt', 'language-configuration.json',
    'media/command.md', 'media/diagram.md', 'media/ebb.svg', 'media/file.md', 'media/problems.md', 'media/run.md',
    'out/extension.js', 'out/instance.css', 'out/instance.js', 'out/page.css', 'out/page.js', 'package.json', 'snippets/ebb.json', 'snippets/file.json',
    'syntaxes/ebb.tmLanguage.json', 'workflow.schema.json',
  ].map((name) => `extension/${name}`)];
  assert.deepEqual(names.trim().split('\n'), wanted);
  assert.ok(statSync(EBB_VSIX).size <= 200_000, `${statSync(EBB_VSIX).size} bytes`);
});

test('the same sources give the same bytes', () => {
  const again = join(EBB_WORK_DIR, 'again.vsix');
  run(process.execPath, join(source, 'scripts/build.mjs'), dirname(EBB_VSIX));
  run('python3', '-B', join(source, 'scripts/pack.py'), join(dirname(EBB_VSIX), 'extension'), again);
  assert.ok(readFileSync(again).equals(readFileSync(EBB_VSIX)));
});

test('direct packages have exact versions, and the lock names no address', () => {
  const direct = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  assert.ok(direct.length <= 6, `${direct.length} direct packages`);
  for (const [name, version] of direct) assert.match(version, /^\d+\.\d+\.\d+$/, name);
  const packages = Object.entries(JSON.parse(read('package-lock.json')).packages).filter(([path]) => path !== '');
  for (const [path, entry] of packages) {
    assert.match(entry.integrity ?? '', /^sha512-/, path);
    assert.equal(entry.resolved, undefined, `${path} names an address: run node editors/vscode/scripts/lock.mjs`);
    assert.match(entry.license, /^(MIT|ISC|Apache-2\.0|BSD-\d-Clause)$/, path);
  }
});

test('the extension has the version of Ebb', () => {
  const cmake = readFileSync(join(source, '../../CMakeLists.txt'), 'utf8');
  assert.equal(manifest.version, /project\([^)]*VERSION (\d+\.\d+\.\d+)/.exec(cmake)[1]);
});

test('every setting is used in the sources and described in README.md', () => {
  const sources = ['src/server.ts', 'src/detect.ts', 'src/diagram.ts', 'src/tasks.ts', 'src/connections.ts'].map(read).join('\n');
  for (const name of Object.keys(manifest.contributes.configuration.properties)) {
    const key = name.split('.').at(-1);
    // The trace is read by the library of the client.
    if (name !== 'ebb.trace.server') assert.match(sources, new RegExp(`['.]${key}'`), name);
    assert.ok(read('README.md').includes(`\`${name}\``), `README.md does not describe ${name}`);
  }
});

test('every command is registered, and every file of the walkthrough is there', () => {
  const sources = ['src/extension.ts', 'src/running.ts'].map(read).join('\n');
  for (const { command } of manifest.contributes.commands) assert.ok(sources.includes(`'${command}'`), command);
  for (const { steps } of manifest.contributes.walkthroughs) {
    for (const { media } of steps) assert.ok(read(media.markdown).length > 0);
  }
});

test('the entry for the catalog of schemas names the files that are workflows by their names', () => {
  const { fileMatch, url } = JSON.parse(readFileSync(join(source, '../../schema/schemastore.json'), 'utf8'));
  const { extensions } = manifest.contributes.languages[0];
  assert.deepEqual(fileMatch.sort(), [...extensions, '.ebb.json'].map((ending) => `*${ending}`).sort());
  assert.match(url, /^https:\/\/.*\/workflow\.schema\.json$/);
});

test('what starts a program is restricted until the workspace is trusted', () => {
  const { untrustedWorkspaces } = manifest.capabilities;
  assert.equal(untrustedWorkspaces.supported, 'limited');
  assert.deepEqual(untrustedWorkspaces.restrictedConfigurations, ['ebb.path', 'ebb.types', 'ebb.connections']);
});

test('the template for JetBrains has the keys that LSP4IJ documents', () => {
  const template = JSON.parse(read('../jetbrains/ebb/template.json'));
  assert.deepEqual(Object.keys(template), ['id', 'name', 'programArgs', 'fileTypeMappings']);
  assert.equal(template.programArgs.default, 'ebb lsp');
  for (const { fileType, languageId } of template.fileTypeMappings) assert.ok(fileType.name && languageId);
  // It only looks for the command and downloads nothing.
  const installer = JSON.parse(read('../jetbrains/ebb/installer.json'));
  assert.deepEqual(Object.keys(installer), ['id', 'name', 'executeOnStartServer', 'check']);
  assert.equal(installer.check.exec.command.default, 'which ebb');
  // Each setting of the server's page, and no other.
  const page = readFileSync(join(source, '../../docs/reference/lsp.md'), 'utf8').split('## Settings')[1].split('\n## ')[0];
  const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const { ebb } = JSON.parse(read('../jetbrains/ebb/settings.schema.json')).properties;
  assert.deepEqual(Object.keys(ebb.properties).sort(), documented.sort());
  const modes = manifest.contributes.configuration.properties['ebb.inlayHints'].enum;
  assert.ok(modes.includes(JSON.parse(read('../jetbrains/ebb/initializationOptions.json')).inlayHints));
  assert.ok(modes.includes(JSON.parse(read('../jetbrains/ebb/settings.json')).ebb.inlayHints));
});
