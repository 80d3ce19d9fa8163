// The UI's packages: few, all with an integrity and none with an address, under licences that we may ship.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (name) => JSON.parse(readFileSync(new URL(`../../ui/${name}`, import.meta.url), 'utf8'));
const manifest = read('package.json');
const lock = read('package-lock.json');
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');
const LICENSES = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'MPL-2.0', 'Python-2.0', '(MIT OR CC0-1.0)'];

test('direct packages have exact versions, and there are at most 15', () => {
  const direct = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  assert.ok(direct.length <= 15, `${direct.length} direct packages`);
  for (const [name, version] of direct) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test('the lock has at most 150 packages, each with version and integrity and without an address', () => {
  assert.ok(installed.length <= 150, `${installed.length} packages`);
  for (const [path, entry] of installed) {
    assert.match(entry.version ?? '', /^\d/, path);
    assert.match(entry.integrity ?? '', /^sha512-/, path);
    assert.equal(entry.resolved, undefined, `${path} names an address: run node ui/scripts/lock.mjs`);
  }
});

test('every package has a licence of the list', () => {
  for (const [path, entry] of installed) assert.ok(LICENSES.includes(entry.license), `${path}: ${entry.license}`);
});
