// Links from an instance to other systems, as the settings of the server name them.
import type { Instance, Schemas } from '../api/client';

/** The trace of an instance has its id. */
export const traceOf = (id: string) => id.replaceAll('-', '');

/** The links with the values of the instance in place of `${instance.id}` and others, percent-encoded. */
export function linksOf(server: Schemas['Server'] | undefined, instance: Instance): { name: string; url: string }[] {
  const values: Record<string, string> = {
    id: instance.id, trace_id: traceOf(instance.id), workflow: instance.workflow, version: String(instance.version), key: instance.key ?? '', created_at: instance.created_at,
  };
  const filled = (url: string) => url.replace(/\$\{instance\.(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? encodeURIComponent(values[name]!) : whole));
  // The server allows no other scheme; a link that runs a script would be one.
  return (server?.ui?.links ?? []).map(({ name, url }) => ({ name, url: filled(url) })).filter(({ url }) => /^https?:\/\//.test(url));
}
