// All words of the UI, in one language at a time. A test refuses literal text in the components.
import { settings, type Locale } from '../lib/settings.svelte';
import type { en } from './en';

export type Messages = typeof en;

const FILES: Partial<Record<Locale, () => Promise<Messages>>> = {
  en: async () => (await import('./en')).en,
};
let current = $state.raw<Messages>({} as Messages);

export function localeOf(): Locale {
  if (settings.locale) return settings.locale;
  const wanted = navigator.languages.map((language) => language.slice(0, 2));
  return (wanted.find((language) => language in FILES) as Locale | undefined) ?? 'en';
}

export async function loadText() {
  const locale = localeOf();
  current = await (FILES[locale] ?? FILES.en!)();
  document.documentElement.lang = locale;
}

/** The messages; what reads them in a template follows the language. */
export const t = new Proxy({} as Messages, { get: (_, name) => current[name as keyof Messages] });
