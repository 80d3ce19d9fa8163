// Takes the addresses out of package-lock.json: run it after every `npm install` here. Where packages come from is the
// machine's business; the lock states their integrity. A test checks it.
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const entry of Object.values(lock.packages)) {
  delete entry.resolved;
  delete entry.funding;
}
writeFileSync(file, JSON.stringify(lock, null, 2) + '\n');
