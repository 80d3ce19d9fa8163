// What a person chooses for this browser. Nothing of it is sent anywhere.
import { isLocale, type Locale } from '../text/locales';

export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'local' | 'utc';
export type Density = 'compact' | 'comfortable';

const KEY = 'ebb.settings';

/** An empty locale is the browser's. */
function load(): { theme: Theme; zone: Zone; density: Density; locale: Locale | '' } {
  const chosen = { theme: 'system' as Theme, zone: 'local' as Zone, density: 'compact' as Density, locale: '' as Locale | '' };
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (['light', 'dark'].includes(kept.theme)) chosen.theme = kept.theme;
    if (kept.zone === 'utc') chosen.zone = 'utc';
    if (kept.density === 'comfortable') chosen.density = 'comfortable';
    if (isLocale(kept.locale)) chosen.locale = kept.locale;
  } catch {
    // A damaged or forbidden storage is as good as none.
  }
  return chosen;
}

export const settings = $state(load());

export function applySettings() {
  document.documentElement.dataset.theme = settings.theme;
  document.documentElement.dataset.density = settings.density;
}

export function saveSettings() {
  applySettings();
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // Private windows may refuse; the choice then lasts as long as the page.
  }
}

/** A value that this browser keeps, such as saved views and drafts. */
export function kept<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`ebb.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function keep(name: string, value: unknown) {
  try {
    if (value === null || value === undefined) localStorage.removeItem(`ebb.${name}`);
    else localStorage.setItem(`ebb.${name}`, JSON.stringify(value));
  } catch {
    // As above.
  }
}
