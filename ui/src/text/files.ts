// The files of words: one for each language, so that a browser loads only the language that it shows.
import type { en } from './en';
import { preferred, type Locale } from './locales';

export type Messages = typeof en;

const FILES: Record<Locale, () => Promise<Messages>> = {
  en: async () => (await import('./en')).en,
  de: async () => (await import('./de')).de,
  pt: async () => (await import('./pt')).pt,
  ru: async () => (await import('./ru')).ru,
};

export const messagesOf = (locale: Locale) => FILES[locale]();

/** The language to show if a person has chosen `chosen`, or has chosen none. */
export const localeOf = (chosen: Locale | '') => chosen || preferred(navigator.languages);
