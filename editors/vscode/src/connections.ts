import * as vscode from 'vscode';
import type { Target } from './command';

/** An entry of the setting `ebb.connections`. */
export interface Connection {
  name: string;
  url: string;
}

const isServer = (url: string) => /^(https?:\/\/|unix:)/.test(url);
/** A password does not belong in a settings file, nor into the list of processes. */
const hasPassword = (url: string) => /^[a-z]+:\/\/[^/@\s]*:[^/@\s]*@/i.test(url) || /[?&\s]password=/i.test(url);

/** The connections of the settings, each address once, without what is not a connection. */
export function connections(): Connection[] {
  const listed = vscode.workspace.getConfiguration('ebb').get<unknown>('connections');
  if (!Array.isArray(listed)) return [];
  const seen = new Set<unknown>();
  return listed.flatMap((entry: unknown) => {
    const { name, url } = (entry ?? {}) as { name?: unknown; url?: unknown };
    const isNew = !seen.has(url);
    seen.add(url);
    return isNew && typeof url === 'string' && url !== '' ? [{ name: typeof name === 'string' && name !== '' ? name : url, url }] : [];
  });
}

/** A token belongs to an address and not to a name: a workspace that gives the name another address does not get the token. */
const secretOf = (url: string) => `token:${url}`;

export class Tokens {
  constructor(private readonly secrets: vscode.SecretStorage) {}

  /** Fails with a sentence if the connection must not be used. */
  async target({ url, name }: Connection): Promise<Target> {
    if (hasPassword(url)) throw new Error(`The connection "${name}" has a password in its URL. Put it into ~/.pgpass, and take it out of the settings.`);
    if (!isServer(url)) return { args: ['--db', url] };
    const token = await this.secrets.get(secretOf(url));
    return { args: ['--server', url], ...(token === undefined ? {} : { token }) };
  }

  /** Asks for the token of a server and keeps it; an empty one takes the old one away. */
  async ask(wanted?: Connection): Promise<void> {
    const servers = connections().filter(({ url }) => isServer(url));
    if (servers.length === 0) {
      void vscode.window.showInformationMessage('No server is among ebb.connections: a token belongs to a server.');
      return;
    }
    const picked = wanted ?? (servers.length === 1 ? servers[0] : await vscode.window.showQuickPick(servers.map((one) => ({ label: one.name, description: one.url, ...one })), { title: 'Token of which server?' }));
    if (!picked) return;
    if (!isServer(picked.url)) {
      void vscode.window.showInformationMessage(`${picked.name} is a database, and needs no token.`);
      return;
    }
    const token = await vscode.window.showInputBox({ title: `Token of ${picked.url}`, password: true, ignoreFocusOut: true, prompt: 'Kept in the secret storage of VS Code. Empty: forget the token.' });
    if (token === undefined) return;
    if (token === '') await this.secrets.delete(secretOf(picked.url));
    else await this.secrets.store(secretOf(picked.url), token.trim());
  }
}
