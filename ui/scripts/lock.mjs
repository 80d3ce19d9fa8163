// Takes the addresses out of package-lock.json: where packages come from is this machine's business, their integrity is
// the lock's. (npm's own option for it, omit-lockfile-registry-resolved, forgets the versions of other platforms'
// optional packages.) Run it after every `npm install`; a test of the label e2e checks that it was.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const entry of Object.values(lock.packages)) {
  delete entry.resolved;
  delete entry.funding;
}
writeFileSync(file, JSON.stringify(lock, null, 2) + '\n');
