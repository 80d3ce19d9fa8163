// Imported first: when npm could not fetch the packages of the UI, the build has none, and the test is skipped (CTest
// knows 77 by SKIP_RETURN_CODE).
import { existsSync } from 'node:fs';

if (!existsSync(new URL('../../ui/node_modules/playwright-core', import.meta.url))) {
  console.error('The packages of the web UI are not there, so no browser can be driven.');
  process.exit(77);
}
