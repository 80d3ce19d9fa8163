// The languages of the UI, how to choose one, and how each of them counts. No words: those are in the message files.
export const LOCALES = {
  en: { name: 'English', tag: 'en' },
  de: { name: 'Deutsch', tag: 'de' },
  pt: { name: 'Português (Brasil)', tag: 'pt-BR' },
  ru: { name: 'Русский', tag: 'ru' },
} as const;
export type Locale = keyof typeof LOCALES;

export const isLocale = (name: unknown): name is Locale => typeof name === 'string' && Object.hasOwn(LOCALES, name);

/** The first of the browser's languages that the UI has, such as `pt` for `pt-PT`; English if it has none of them. */
export function preferred(languages: readonly string[]): Locale {
  return languages.map((language) => language.toLowerCase().split('-')[0]).find(isLocale) ?? 'en';
}

const FORMS: Intl.LDMLPluralRule[] = ['one', 'few'];

/** Numbers and plurals of a language. Plural forms are given in the order one, few, all others; most languages have no few. */
export function counting(tag: string) {
  // To make one of these takes a browser longer than to read all words, so each waits until it is used.
  let integer: Intl.NumberFormat | undefined;
  let rules: Intl.PluralRules | undefined;
  const number = (n: number) => (integer ??= new Intl.NumberFormat(tag)).format(n);
  const form = (n: number, ...forms: string[]) => forms[FORMS.indexOf((rules ??= new Intl.PluralRules(tag)).select(n))] ?? forms[forms.length - 1]!;
  const count = (n: number, ...forms: string[]) => `${number(n)} ${form(n, ...forms)}`;
  return { number, form, count };
}

/** The verb of a button without the "…" that says that a sheet comes first. */
export const bare = (verb: string) => verb.replace(/…$/, '');
