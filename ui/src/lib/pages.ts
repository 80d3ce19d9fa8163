// The pages, for navigation and palette.
import type { Messages } from '../text';

export interface PageEntry {
  id: keyof Messages['nav'] & string;
  parts: string[];
  /** Empty: every login. */
  permission: string;
  /** With this one it has a part for the person, too. */
  or?: string;
  icon: string;
  key: string;
}

// Icons are paths in a square of 16.
export const PAGES: PageEntry[] = [
  { id: 'overview', parts: [], permission: 'stats.read', icon: 'M2 9.5 5 6l3 3 6-6M2 14h12', key: 'o' },
  { id: 'instances', parts: ['instances'], permission: 'instances.read', icon: 'M2 3.5h12M2 8h12M2 12.5h12', key: 'i' },
  { id: 'failures', parts: ['failures'], permission: 'instances.read', icon: 'M8 2 15 14H1ZM8 6.5v3.5M8 12v.5', key: 'f' },
  { id: 'decisions', parts: ['decisions'], permission: 'decisions.read', icon: 'M8 7.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14.5c0-3 2.5-4.5 5.5-4.5s5.500 1.5 5.500 4.500', key: 'd' },
  { id: 'workflows', parts: ['workflows'], permission: 'workflows.read', icon: 'M5.500 1.500h5v4h-5zM1.500 10.500h5v4h-5zM9.500 10.500h5v4h-5zM8 5.500v2.500M4 10.500V8h8v2.500', key: 'w' },
  { id: 'workers', parts: ['workers'], permission: 'workers.read', icon: 'M2 2.500h12v4H2zM2 9.500h12v4H2zM4.500 4.500h1M4.500 11.500h1', key: 'k' },
  { id: 'queues', parts: ['queues'], permission: 'workers.read', icon: 'M1.500 5h3v6h-3zM6.500 5h3v6h-3zM11.500 5h3v6h-3z', key: 'q' },
  { id: 'bulk', parts: ['bulk'], permission: 'bulk', icon: 'M2 4h8M2 8h8M2 12h8M12 4l1 1 2-2M12 8l1 1 2-2M12 12l1 1 2-2', key: 'b' },
  { id: 'notifications', parts: ['notifications'], permission: 'webhooks.write', or: 'hooks.write', icon: 'M4 11.500V7a4 4 0 0 1 8 0v4.500l1.500 1.500h-11ZM6.500 14.500h3', key: 'n' },
  { id: 'docs', parts: ['docs'], permission: '', icon: 'M5.500 3.500 1.500 8l4 4.500M10.500 3.500l4 4.500-4 4.500M9 2.500 7 13.500', key: 'a' },
];

export const mayOpen = (page: PageEntry, can: (permission: string) => boolean) => !page.permission || can(page.permission) || (page.or !== undefined && can(page.or));

/** The tabs of the settings, and the permission that each needs. */
export const SETTINGS = { general: '', grants: 'admin', projects: 'admin', tokens: 'admin', sessions: '', audit: 'audit.read', definitions: 'admin', config: 'admin' } as const;
export type SettingsTab = keyof typeof SETTINGS;
