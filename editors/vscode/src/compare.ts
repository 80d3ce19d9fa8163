import * as vscode from 'vscode';
import { ask, print, types } from './command';
import { connections, type Connection, type Tokens } from './connections';
import { page } from './page';
import { isFromPage, type ToPage } from './protocol';
import { mayBeWorkflow } from './server';

/** What `ebb workflows --json` says of each version. */
interface Registered {
  name: string;
  version: number;
}

/** What `ebb diff --json` says. */
interface Difference {
  equal: boolean;
  needs_version: boolean;
}

/** "The same" is 0, "a difference" is 1. */
const STATUSES = [0, 1];
const VERSIONS_MAX = 50;

async function pickConnection(): Promise<Connection | undefined> {
  const all = connections();
  if (all.length === 0) {
    const open = 'Open the Setting';
    const choice = await vscode.window.showInformationMessage('No server and no database is in ebb.connections: a registered version is in one of them.', open);
    if (choice === open) void vscode.commands.executeCommand('ebb.addConnection');
    return undefined;
  }
  if (all.length === 1) return all[0];
  return vscode.window.showQuickPick(all.map((one) => ({ label: one.name, description: one.url, ...one })), { title: 'Compare with a version that is registered where?' });
}

/** The name of the workflow of a text, which need not be valid. */
const nameIn = (text: string) => /^["']?workflow["']?\s*:\s*["']?([^"'\s#,]+)/m.exec(text)?.[1];

/** How the workflow of a file differs from one that a server or a database has, as a picture and as a list. */
export class Comparison implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly tokens: Tokens,
    private readonly openNode: (uri: vscode.Uri, node: string) => Promise<void>,
  ) {}

  async run(wanted?: vscode.Uri | string): Promise<void> {
    const given = typeof wanted === 'string' ? vscode.Uri.parse(wanted, true) : wanted;
    const document = given ? await vscode.workspace.openTextDocument(given) : vscode.window.activeTextEditor?.document;
    if (!document || !mayBeWorkflow(document) || document.languageId === 'cpp') {
      void vscode.window.showInformationMessage('Open a workflow in YAML or JSON first: it is what is compared.');
      return;
    }
    try {
      await this.compare(document);
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private async compare(document: vscode.TextDocument): Promise<void> {
    const connection = await pickConnection();
    if (!connection) return;
    const target = await this.tokens.target(connection);
    const name = nameIn(document.getText());
    const all = await ask<Registered[]>(['workflows'], target);
    const versions = all.filter((one) => one.name === name).sort((a, b) => b.version - a.version);
    if (versions.length === 0) {
      void vscode.window.showInformationMessage(`${connection.name} has no version of ${name ?? 'this workflow'}.`);
      return;
    }
    const subjects = versions.slice(0, VERSIONS_MAX).map((one) => `${one.name}@${one.version}`);
    const before = subjects.length === 1 ? subjects[0] : await vscode.window.showQuickPick(subjects, { title: `Compare ${name} with which version?` });
    if (!before) return;
    const text = document.getText();
    // The text of the editor, saved or not, and never a name that could be an option.
    const words = ['diff', before, '-', ...types()];
    const [difference, list, { diagram: svg }] = await Promise.all([
      ask<Difference>(words, target, STATUSES, text),
      print(words, 'text', target, STATUSES, text),
      ask<{ diagram: string }>([...words, '--format', 'svg'], target, STATUSES, text),
    ]);
    if (difference.equal) {
      void vscode.window.showInformationMessage(`The text is the same workflow as ${before} of ${connection.name}.`);
      return;
    }
    const note = difference.needs_version ? 'The content has changed, but the version has not: give the workflow a new one.' : '';
    this.show(document.uri, before, { svg, list, note });
  }

  private show(uri: vscode.Uri, before: string, { svg, list, note }: { svg: string; list: string; note: string }): void {
    this.panel?.dispose();
    const title = `${before} and ${vscode.workspace.asRelativePath(uri)}`;
    const panel = vscode.window.createWebviewPanel('ebb.comparison', title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.extension, 'out')] });
    this.panel = panel;
    panel.onDidDispose(() => this.panel === panel && (this.panel = undefined));
    panel.webview.onDidReceiveMessage((message: unknown) => {
      if (!isFromPage(message)) return;
      if (message.type === 'open') void this.openNode(uri, message.node);
      else void panel.webview.postMessage({ type: 'difference', svg, list, note } satisfies ToPage);
    });
    panel.webview.html = page(panel.webview, this.extension, { name: 'page', title: 'Difference', body: BODY });
  }
}

const BODY = `<p id="state" role="status" hidden></p>
<main id="picture"></main>
<pre id="list" hidden></pre>`;
