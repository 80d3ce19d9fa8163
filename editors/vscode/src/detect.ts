import * as vscode from 'vscode';
import type { Server } from './server';

const AS_YAML = 'ebb.asYaml';

/** Gives YAML files that hold a workflow the language `ebb`, and remembers files that a user has turned back. */
export function watchLanguages(context: vscode.ExtensionContext, server: Server): void {
  const given = new Set<string>();
  const asYaml = new Set(context.workspaceState.get<string[]>(AS_YAML) ?? []);

  async function look(document: vscode.TextDocument): Promise<void> {
    const uri = document.uri.toString();
    if (document.languageId !== 'yaml' || asYaml.has(uri)) return;
    if (vscode.workspace.getConfiguration('ebb').get('detect') !== 'content') return;
    if (given.has(uri)) {
      asYaml.add(uri);
      await context.workspaceState.update(AS_YAML, [...asYaml]);
      return;
    }
    const kind = await server.ask<string>('ebb/kindOf', { textDocument: { uri } });
    if (kind !== 'workflow' || document.isClosed) return;
    given.add(uri);
    await vscode.languages.setTextDocumentLanguage(document, 'ebb');
  }

  const lookAtAll = () => vscode.workspace.textDocuments.forEach((document) => void look(document));
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument((document) => void look(document)),
    vscode.workspace.onDidSaveTextDocument((document) => void look(document)),
    server.onDidChange(lookAtAll),
  );
  lookAtAll();
}
