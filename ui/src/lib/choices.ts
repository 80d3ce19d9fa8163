// What a person has chosen for this browser, as it is kept. It is read before the program has loaded, so it stands alone.
import { isLocale, type Locale } from '../text/locales';

export type Theme = 'system' | 'light' | 'dark';
export type Zone = 'local' | 'utc';
export type Density = 'compact' | 'comfortable';
export interface Choices {
  theme: Theme;
  zone: Zone;
  density: Density;
  /** Empty: the browser's. */
  locale: Locale | '';
}

export const CHOICES = 'ebb.settings';

export function readChoices(): Choices {
  const chosen: Choices = { theme: 'system', zone: 'local', density: 'compact', locale: '' };
  try {
    const kept = JSON.parse(localStorage.getItem(CHOICES) ?? '{}');
    if (['light', 'dark'].includes(kept.theme)) chosen.theme = kept.theme;
    if (kept.zone === 'utc') chosen.zone = 'utc';
    if (kept.density === 'comfortable') chosen.density = 'comfortable';
    if (isLocale(kept.locale)) chosen.locale = kept.locale;
  } catch {
    // A damaged or forbidden storage is as good as none.
  }
  return chosen;
}

export function applyChoices({ theme, density }: Choices) {
  document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.density = density;
}
