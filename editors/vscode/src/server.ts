import * as vscode from 'vscode';
import { LanguageClient, State, type LanguageClientOptions } from 'vscode-languageclient/node';

/** The documents that the server sees. It says nothing about those that are not workflows. */
export const SELECTOR = [
  { language: 'ebb' },
  { language: 'yaml' },
  { language: 'json', pattern: '**/*.ebb.json' },
  { language: 'cpp' },
];

/** What the lenses and the actions of the server may ask for. */
const LENS_COMMANDS = ['ebb.run', 'ebb.showDiagram', 'ebb.validate', 'ebb.showProblems', 'ebb.showExpanded', 'ebb.goTo', 'ebb.copyText'];

/** Whether a document can be one that the server knows. */
export function mayBeWorkflow(document: vscode.TextDocument): boolean {
  return vscode.languages.match(SELECTOR, document) > 0;
}

/** The page of a problem's code opens as a page and not as the text of a file. */
function withPage(diagnostic: vscode.Diagnostic): vscode.Diagnostic {
  const { code } = diagnostic;
  if (typeof code !== 'object' || code.target.scheme !== 'file') return diagnostic;
  const target = vscode.Uri.parse(`command:ebb.explainProblem?${encodeURIComponent(JSON.stringify([code.target.toString()]))}`);
  diagnostic.code = { value: code.value, target };
  return diagnostic;
}

/** The process `ebb lsp`, and the questions to it. */
export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly aged = new vscode.EventEmitter<string>();
  private readonly watcher = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('ebb.path') || event.affectsConfiguration('ebb.types')) void this.restart();
  });
  /** The server has started or has ended. */
  readonly onDidChange = this.changed.event;
  /** The picture of a document, by its URI, is that of an earlier text. */
  readonly onDidChangeDiagram = this.aged.event;

  get isRunning(): boolean {
    return this.client?.state === State.Running;
  }

  async start(): Promise<void> {
    const settings = vscode.workspace.getConfiguration('ebb');
    const path = settings.get<string>('path') || 'ebb';
    const types = settings.get<string[]>('types') ?? [];
    const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const args = [...types.flatMap((file) => ['--types', file]), 'lsp'];
    const options: LanguageClientOptions = {
      documentSelector: SELECTOR,
      synchronize: { configurationSection: 'ebb', fileEvents: vscode.workspace.createFileSystemWatcher('**/{*.yaml,*.yml,*.ebb.json,*.cpp,*.cc,*.cxx,*.hpp,*.hh,*.h}') },
      initializationOptions: { inlayHints: settings.get('inlayHints'), cpp: settings.get('cpp'), exclude: settings.get('exclude'), docs: settings.get('docs'), commands: LENS_COMMANDS },
      middleware: { handleDiagnostics: (uri, diagnostics, next) => next(uri, diagnostics.map(withPage)) },
    };
    const client = new LanguageClient('ebb', 'Ebb', { command: path, args, options: cwd ? { cwd } : {} }, options);
    this.client = client;
    client.onDidChangeState(() => this.changed.fire());
    client.onNotification('ebb/didChangeDiagram', ({ textDocument }: { textDocument: { uri: string } }) => this.aged.fire(textDocument.uri));
    try {
      await client.start();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      await this.report(path, words);
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** The answer, or undefined if no server runs. */
  async ask<Answer>(method: string, params: object): Promise<Answer | undefined> {
    if (!this.client || !this.isRunning) return undefined;
    return this.client.sendRequest<Answer>(method, params);
  }

  dispose(): void {
    this.watcher.dispose();
    void this.stop();
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop();
  }

  private async report(path: string, words: string): Promise<void> {
    const open = 'Open the Setting';
    const text = `Ebb cannot start "${path} lsp", so there are no checks and no pictures (${words}). Install ebb, or set its path.`;
    // Not awaited by the caller's start: the message can stay for as long as it likes.
    void vscode.window.showErrorMessage(text, open).then((choice) => {
      if (choice === open) void vscode.commands.executeCommand('workbench.action.openSettings', 'ebb.path');
    });
  }
}
