// The first file that runs, and a small one: what every page waits for is asked for while the rest of the program loads.
import { ask } from './api/first';
import { base } from './lib/base';
import { applyChoices, readChoices } from './lib/choices';
import { rememberedFirst } from './lib/overview';
import { localeOf, messagesOf } from './text/files';

const choices = readChoices();
applyChoices(choices);
// The program asks again, and says what is wrong.
messagesOf(localeOf(choices.locale)).catch(() => undefined);
// A login link makes the session that these need.
const at_overview = location.pathname === base;
if (!location.hash.includes('login=')) for (const path of ['/me', '/', ...(at_overview ? rememberedFirst() : [])]) ask(path);
void import('./app');
