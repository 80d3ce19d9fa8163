// What a person chooses for this browser. Nothing of it is sent anywhere.
import { applyChoices, CHOICES, readChoices } from './choices';

export type { Density, Theme, Zone } from './choices';

export const settings = $state(readChoices());

export function applySettings() {
  applyChoices(settings);
}

export function saveSettings() {
  applySettings();
  try {
    localStorage.setItem(CHOICES, JSON.stringify(settings));
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
