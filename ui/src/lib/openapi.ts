// The API's own document (OpenAPI 3.1), as the page of the API shows it.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  example?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}
interface Content {
  schema?: Schema;
  example?: unknown;
}
export interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}
interface Answer {
  $ref?: string;
  description?: string;
  content?: Record<string, Content>;
}
interface Body {
  $ref?: string;
  required?: boolean;
  content?: Record<string, Content>;
}
interface RawOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: Body;
  responses: Record<string, Answer>;
  'x-ebb-permission': string;
  'x-ebb-reach': string;
}
export interface Document {
  info: { title: string; version: string; description?: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, unknown>>;
  components: Record<string, Record<string, unknown>>;
}
export interface Operation extends Omit<RawOperation, 'parameters'> {
  method: string;
  path: string;
  parameters: Parameter[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** What a reference stands for; anything else is returned as it is. */
export function resolve<T extends { $ref?: string }>(document: Document, node: T): T {
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(node.$ref ?? '') ?? [];
  const found = document.components[kind]?.[name] as T | undefined;
  return found ?? node;
}

/** In the order of the document. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method] as RawOperation;
      const parameters = [...((item.parameters ?? []) as Parameter[]), ...(operation.parameters ?? [])].map((one) => resolve(document, one));
      return { ...operation, method: method.toUpperCase(), path, parameters };
    }),
  );
}

/** A type in a few words: `string`, `Instance[]`, `"ok" | "failed"`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').pop() ?? '';
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const some = schema.oneOf ?? schema.anyOf;
  if (some) return [...new Set(some.map(typeOf))].join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ');
  const types = [schema.type ?? (schema.properties ? 'object' : 'any')].flat();
  return types.map((type) => (type === 'array' && schema.items ? `${typeOf(schema.items)}[]` : type)).join(' | ');
}

/** The members of an object, also of one that is behind a reference, in a list, or made of several. */
export function membersOf(document: Document, schema: Schema | undefined): [name: string, member: Schema, isRequired: boolean][] {
  if (!schema) return [];
  const it = resolve(document, schema);
  if (it.items) return membersOf(document, it.items);
  const parts = [...(it.allOf ?? []), ...(it.oneOf ?? it.anyOf ?? [])];
  const own = Object.entries(it.properties ?? {}).map(([name, member]) => [name, member, it.required?.includes(name) ?? false] as [string, Schema, boolean]);
  const all = [...own, ...parts.flatMap((one) => membersOf(document, one))];
  return all.filter(([name], i) => all.findIndex(([other]) => other === name) === i);
}

export const contentOf = (holder: Body | Answer | undefined) => Object.entries(holder?.content ?? {})[0];

/** As one calls it in a shell. */
export function curlOf(operation: Operation, api: string, document: Document): string {
  const of = (one: Parameter) => String(one.example ?? resolve(document, one.schema ?? {}).example ?? one.name.toUpperCase());
  let path = operation.path;
  for (const one of operation.parameters) if (one.in === 'path') path = path.replace(`{${one.name}}`, encodeURIComponent(of(one)));
  const query = operation.parameters.filter((one) => one.in === 'query' && one.required).map((one) => `${one.name}=${encodeURIComponent(of(one))}`);
  const body = operation.requestBody && resolve(document, operation.requestBody);
  const [type = '', content] = contentOf(body) ?? [];
  const example = content && (content.example ?? resolve(document, content.schema ?? {}).example);
  const text = example === undefined ? '' : typeof example === 'string' ? example : JSON.stringify(example);
  return [
    'curl', ...(operation.method === 'GET' ? [] : ['-X', operation.method]), `-H "Authorization: Bearer $EBB_TOKEN"`,
    ...(body ? [`-H 'Content-Type: ${type}'`] : []), ...(text ? [`-d '${text.replaceAll("'", `'\\''`)}'`] : []), `'${api}${path}${query.length ? `?${query.join('&')}` : ''}'`,
  ].join(' ');
}

/** Paragraphs and points of a description; what stood between backquotes is code. */
export function wordsOf(text: string): { isPoint: boolean; parts: { text: string; isCode: boolean }[] }[] {
  return text.trim().split(/\n\s*\n|\n(?=\s*[*-] )/).map((block) => {
    const isPoint = /^\s*[*-] /.test(block);
    const plain = block.replace(/^\s*[*-] /, '').replace(/\s+/g, ' ');
    return { isPoint, parts: plain.split('`').map((part, i) => ({ text: part, isCode: i % 2 === 1 })).filter((part) => part.text) };
  });
}
