// The first file that runs, and a small one: what every page waits for is asked for while the rest of the program loads.
import { ask } from './api/first';
import { applyChoices, readChoices } from './lib/choices';
import { localeOf, messagesOf } from './text/files';

const choices = readChoices();
applyChoices(choices);
// The program asks again, and says what is wrong.
messagesOf(localeOf(choices.locale)).catch(() => undefined);
// A login link makes the session that these need.
if (!location.hash.includes('login=')) for (const path of ['/me', '/']) ask(path);
void import('./app');
