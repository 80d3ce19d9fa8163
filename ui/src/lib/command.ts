// The same act as a command in a terminal.

/** As one word of a shell, whatever it contains. */
export const shellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const NAMES: Record<string, string> = { confirm: 'decide', reject: 'decide' };

interface Target {
  id: string;
  workflow: string;
}

/** The key of the instance that does the work of `id` again, as a bulk operation makes it: with it, the work starts again
 * once, however often and wherever it is asked for. */
export const rerunKey = ({ id }: { id: string }) => `rerun:${id}`;

/** `verb` as the sheet of an act has it, `body` as the request would. */
export function commandOf(verb: string, { id, workflow }: Target, body: Record<string, unknown>): string {
  const words = ['ebb', NAMES[verb] ?? verb, id];
  const add = (option: string, value: unknown) => {
    if (value !== undefined && value !== '') words.push(option, typeof value === 'string' ? value : JSON.stringify(value));
  };
  if (verb === 'confirm' || verb === 'reject') words.push(verb);
  if (verb === 'signal') {
    words.push(String(body.name));
    // A payload that is a text is one in JSON, too.
    if (body.payload !== null) words.push('--payload', JSON.stringify(body.payload));
  }
  if (verb === 'requeue' && 'input' in body) words.push('--input', JSON.stringify(body.input));
  if (body.skip_compensation) words.push('--skip-compensation');
  if (verb === 'write') words.push('--values', JSON.stringify(body.values ?? {}));
  if (verb === 'export') words.push('--output', `${workflow}-${id}.json`);
  add('--key', body.key);
  add('--to', body.to);
  add('--then', body.then);
  add('--node', body.node);
  add('--role', body.role);
  add('--comment', body.comment);
  add('--reason', body.reason);
  return words.map(shellWord).join(' ');
}
