// All words of the UI, in one language at a time. A test refuses literal text in the components.
import { settings } from '../lib/settings.svelte';
import type { en } from './en';
import { LOCALES, preferred, type Locale } from './locales';

export type Messages = typeof en;

// One chunk for each language: a browser loads only the language that it shows.
const FILES: Record<Locale, () => Promise<Messages>> = {
  en: async () => (await import('./en')).en,
  de: async () => (await import('./de')).de,
  pt: async () => (await import('./pt')).pt,
  ru: async () => (await import('./ru')).ru,
};
let current = $state.raw<Messages>({} as Messages);
let wanted: Locale = 'en';

export function localeOf(): Locale {
  return settings.locale || preferred(navigator.languages);
}

/** Loads and shows the language of choice. Of two calls at once, the later one wins. */
export async function loadText() {
  const locale = (wanted = localeOf());
  const messages = await FILES[locale]();
  if (wanted !== locale) return;
  current = messages;
  document.documentElement.lang = LOCALES[locale].tag;
}

/** The messages; what reads them in a template follows the language. */
export const t = new Proxy({} as Messages, { get: (_, name) => current[name as keyof Messages] });
