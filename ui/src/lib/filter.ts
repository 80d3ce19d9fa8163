// The filter of the instances list: chips and text at once. `status:dead_letter,failed label:tenant=acme key:k7-* since:2h`
// is split into terms; each is checked here, so that a mistake is shown under the word and never sent.
import { INSTANCE_STATUSES } from './status';

export interface Term {
  text: string;
  name: string;
  value: string;
  problem: '' | 'name' | 'status' | 'version' | 'time' | 'value' | 'label';
}

export const FILTER_NAMES = ['status', 'workflow', 'version', 'key', 'label', 'step', 'error', 'since', 'before'] as const;

const LABEL = /^([A-Za-z_]\w*)=(.+)$/;

/** `tenant=acme` as a condition. A number, true and false are what they look like; in quotes they are texts. */
function labelWhere(term: Term): string {
  const [, name = '', value = ''] = LABEL.exec(term.value) ?? [];
  const is_plain = !term.text.includes('"') && /^(-?\d{1,15}(\.\d{1,15})?|true|false)$/.test(value);
  return `labels.${name} == ${is_plain ? value : literal(value)}`;
}

/** The value of a label; a time is an object of its own in JSON. */
export const labelText = (value: string | number | boolean | { time: string }) => (typeof value === 'object' ? value.time : value);

/** The term that finds instances with this label; empty if none can say it. */
export function labelTerm(name: string, value: unknown): string {
  const text = String(value);
  if (text.includes('"') || !LABEL.test(`${name}=${text || ' '}`)) return '';
  return `label:${name}=${typeof value === 'string' && /^$|\s|^(-?\d+(\.\d+)?|true|false)$/.test(text) ? `"${text}"` : text}`;
}

/** Values with blanks stand in quotes: key:"a b". */
export function parseFilter(text: string): Term[] {
  const words = text.match(/(?:[^\s"]+|"[^"]*"?)+/g) ?? [];
  return words.map((word) => {
    const colon = word.indexOf(':');
    if (colon < 0) return { text: word, name: '', value: word.replaceAll('"', ''), problem: '' };
    const name = word.slice(0, colon);
    const value = word.slice(colon + 1).replaceAll('"', '');
    return { text: word, name, value, problem: problemOf(name, value) };
  });
}

function problemOf(name: string, value: string): Term['problem'] {
  if (!(FILTER_NAMES as readonly string[]).includes(name)) return 'name';
  if (value === '') return 'value';
  if (name === 'status' && value.split(',').some((status) => !(INSTANCE_STATUSES as readonly string[]).includes(status))) return 'status';
  if (name === 'version' && !/^[1-9]\d{0,9}$/.test(value)) return 'version';
  if (name === 'label' && !LABEL.test(value)) return 'label';
  if ((name === 'since' || name === 'before') && timeOf(value, 0) === undefined) return 'time';
  return '';
}

const UNITS: Record<string, number> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };

/** `2h` before now, or a date. */
export function timeOf(value: string, now: number): string | undefined {
  const relative = /^(\d{1,6})([smhdw])$/.exec(value);
  if (relative) return new Date(now - Number(relative[1]) * UNITS[relative[2]!]!).toISOString();
  const time = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

const both = (one: string | undefined, other: string) => [one, other].filter(Boolean).join(' && ');

/** A filter of this module, narrowed by another one. */
export const bothWhere = (where: string, more: string) => both(where === 'true' ? '' : where, more);
export const statusWhere = (statuses: readonly string[]) => oneOf('status', statuses.join());

/** The parameters of GET /instances; undefined if a term is wrong. A word without a name is a key's beginning. */
export function filterQuery(terms: Term[], now: number): Record<string, string> | undefined {
  const found: Record<string, string> = {};
  for (const term of terms) {
    if (term.problem) return undefined;
    if (term.name === 'status') found.status = term.value;
    else if (term.name === 'workflow') found.workflow = term.value;
    else if (term.name === 'version') found.version = term.value;
    else if (term.name === 'label') found.where = both(found.where, labelWhere(term));
    else if (term.name === 'step') found.where = both(found.where, oneOf('error.step', term.value));
    else if (term.name === 'error') found.where = both(found.where, oneOf('error.code', term.value));
    else if (term.name === 'since') found.created_after = timeOf(term.value, now)!;
    else if (term.name === 'before') found.created_before = timeOf(term.value, now)!;
    else if (term.value.endsWith('*') || term.name === '') found.key_prefix = term.value.replace(/\*$/, '');
    else found.key = term.value;
  }
  return found;
}

const literal = (value: string) => JSON.stringify(value);
const oneOf = (field: string, values: string) => {
  const all = values.split(',').filter(Boolean).map(literal);
  return all.length === 1 ? `${field} == ${all[0]}` : `${field} in [${all.join(', ')}]`;
};

/** The same as a filter for acts on all that match; undefined if a term is wrong. Without a term, all match. */
export function filterWhere(terms: Term[], now: number): string | undefined {
  const found = filterQuery(terms, now);
  if (!found) return undefined;
  const parts: string[] = [];
  if (found.status) parts.push(oneOf('status', found.status));
  if (found.workflow) parts.push(oneOf('workflow', found.workflow));
  if (found.version) parts.push(`version == ${found.version}`);
  if (found.created_after) parts.push(`created >= timestamp(${literal(found.created_after)})`);
  if (found.created_before) parts.push(`created < timestamp(${literal(found.created_before)})`);
  if (found.key) parts.push(`key == ${literal(found.key)}`);
  if (found.where) parts.push(found.where);
  if (found.key_prefix) parts.push(`key.startsWith(${literal(found.key_prefix)})`);
  return parts.join(' && ') || 'true';
}

const quoted = (value: string) => (/\s/.test(value) ? `"${value}"` : value);

/** Puts `name:value` in place of what stands for `name`; an empty value takes it away. */
export function withTerm(text: string, name: string, value: string): string {
  const others = parseFilter(text).filter((term) => term.name !== name).map((term) => term.text);
  return [...others, ...(value ? [`${name}:${quoted(value)}`] : [])].join(' ');
}
