// All words of the UI, in one language at a time. A test refuses literal text in the components.
import { settings } from '../lib/settings.svelte';
import { localeOf as localeFor, messagesOf, type Messages } from './files';
import { LOCALES, type Locale } from './locales';

export type { Messages };

let current = $state.raw<Messages>({} as Messages);
let wanted: Locale = 'en';

export const localeOf = (): Locale => localeFor(settings.locale);

/** Loads and shows the language of choice. Of two calls at once, the later one wins. */
export async function loadText() {
  const locale = (wanted = localeOf());
  const messages = await messagesOf(locale);
  if (wanted !== locale) return;
  current = messages;
  document.documentElement.lang = LOCALES[locale].tag;
}

/** The messages; what reads them in a template follows the language. */
export const t = new Proxy({} as Messages, { get: (_, name) => current[name as keyof Messages] });
