import * as vscode from 'vscode';
import { watchLanguages } from './detect';
import { Diagrams, exportDiagram } from './diagram';
import { beginRunning } from './running';
import type { Position } from './protocol';
import { mayBeWorkflow, Server } from './server';
import { TaskProvider } from './tasks';
import { Validation } from './validate';

const TEMPLATE = `workflow: order
deadline: 1h
handlers:
  reserve:
    exec: [jq, '{reserved: .}']
steps:
  - step: reserve
    timeout: 30s
`;

/** Whatever starts a program, and whatever needs the server, begins only in a trusted workspace. */
async function begin(context: vscode.ExtensionContext, server: Server): Promise<void> {
  const diagrams = new Diagrams(context.extensionUri, server);
  const validation = new Validation();
  context.subscriptions.push(
    server,
    diagrams,
    vscode.tasks.registerTaskProvider('ebb', new TaskProvider()),
    vscode.commands.registerCommand('ebb.showDiagram', (uri?: vscode.Uri | string) => diagrams.show(uri)),
    vscode.commands.registerCommand('ebb.exportDiagram', (target?: vscode.Uri) => exportDiagram(server, diagrams, target)),
    vscode.commands.registerCommand('ebb.goTo', goTo),
    vscode.commands.registerCommand('ebb.copyText', (text: string) => vscode.env.clipboard.writeText(text)),
    vscode.commands.registerCommand('ebb.explainProblem', (page: string) => vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.parse(page, true))),
    validation,
    vscode.commands.registerCommand('ebb.validate', (uri?: vscode.Uri | string) => validation.run(uri)),
    vscode.commands.registerCommand('ebb.showProblems', () => vscode.commands.executeCommand('workbench.actions.view.problems')),
    vscode.commands.registerCommand('ebb.showExpanded', (uri?: string, place?: Position) => showExpanded(server, uri, place)),
    vscode.commands.registerCommand('ebb.restartServer', () => server.restart()),
  );
  beginRunning(context, server);
  await server.start();
  watchLanguages(context, server);
}

/** Of a lens: to the code that registers a handler. */
async function goTo(uri: string, { line, character }: Position): Promise<void> {
  const editor = await vscode.window.showTextDocument(vscode.Uri.parse(uri, true));
  const place = editor.document.validatePosition(new vscode.Position(line, character));
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** A workflow as the engine has it, in YAML: also of code in C++. A lens names the place, otherwise it is that of the cursor. */
async function showExpanded(server: Server, uri?: string, place?: Position): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const active = editor && mayBeWorkflow(editor.document) ? editor : undefined;
  const wanted = typeof uri === 'string' ? uri : active?.document.uri.toString();
  if (wanted === undefined) {
    void vscode.window.showInformationMessage('Open a workflow first: the file in the editor is expanded.');
    return;
  }
  const position = place ?? active?.selection.active ?? { line: 0, character: 0 };
  try {
    const { line, character } = position;
    const expanded = await server.ask<{ text: string }>('ebb/expand', { textDocument: { uri: wanted }, position: { line, character } });
    if (!expanded) return;
    const document = await vscode.workspace.openTextDocument({ language: 'ebb', content: expanded.text });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}

async function newWorkflow(): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: 'ebb', content: TEMPLATE });
  await vscode.window.showTextDocument(document);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(vscode.commands.registerCommand('ebb.newWorkflow', newWorkflow));
  const server = new Server();
  if (vscode.workspace.isTrusted) return begin(context, server);
  context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => begin(context, server)));
}
