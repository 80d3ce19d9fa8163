import * as vscode from 'vscode';
import { page } from './page';
import { isFromPage, nodeAt, PNG, type Diagram, type Position, type ToPage } from './protocol';
import { mayBeWorkflow, type Server } from './server';

/** How long the text must rest before the picture is drawn again. */
const REST_MS = 80;

function ask(server: Server, uri: vscode.Uri, format = 'svg'): Promise<Diagram | undefined> {
  const settings = vscode.workspace.getConfiguration('ebb.diagram', uri);
  const editor = vscode.window.visibleTextEditors.find((one) => one.document.uri.toString() === uri.toString());
  const cursor = editor?.selection.active;
  return server.ask<Diagram>('ebb/diagram', {
    textDocument: { uri: uri.toString() },
    format,
    // Of several workflows in code, the one that the cursor is in.
    ...(cursor ? { position: { line: cursor.line, character: cursor.character } } : {}),
    direction: settings.get('direction'),
    compensations: settings.get('compensations'),
  });
}

/** The picture of one document, beside it. */
class Panel {
  private diagram: Diagram | undefined;
  private timer: NodeJS.Timeout | undefined;
  private awaited: { done(bytes: Uint8Array): void; failed(error: Error): void }[] = [];
  private readonly disposables: vscode.Disposable[];

  constructor(
    private readonly panel: vscode.WebviewPanel,
    private readonly server: Server,
    readonly uri: vscode.Uri,
    extension: vscode.Uri,
    onEnd: () => void,
  ) {
    panel.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, 'out')] };
    this.disposables = [
      panel.webview.onDidReceiveMessage((message: unknown) => this.receive(message)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.isMine(document) && this.drawSoon()),
      // The types that a workflow uses have changed, too.
      server.onDidChangeDiagram((changed) => vscode.Uri.parse(changed).toString() === this.uri.toString() && this.drawSoon()),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('ebb.diagram') && this.drawSoon()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.isMine(textEditor.document) && this.follow(textEditor.document)),
      server.onDidChange(() => this.drawSoon()),
    ];
    panel.onDidDispose(() => {
      clearTimeout(this.timer);
      this.disposables.forEach((one) => one.dispose());
      for (const { failed } of this.awaited) failed(new Error('The picture was closed before it was written.'));
      onEnd();
    });
    // The page draws its own picture as PNG.
    panel.webview.html = page(panel.webview, extension, { name: 'page', title: 'Diagram', body: BODY, images: 'data:' });
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  dispose(): void {
    this.panel.dispose();
  }

  /** The picture as PNG, when it has been drawn. Fails if the panel is closed before. */
  png(): Promise<Uint8Array> {
    return new Promise((done, failed) => {
      this.awaited.push({ done, failed });
      if (this.diagram) this.tell({ type: 'png' });
    });
  }

  private isMine(document: vscode.TextDocument): boolean {
    return document.uri.toString() === this.uri.toString();
  }

  private tell(message: ToPage): void {
    void this.panel.webview.postMessage(message);
  }

  private drawSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.draw(), REST_MS);
  }

  private async draw(): Promise<void> {
    let diagram: Diagram | undefined;
    try {
      diagram = await ask(this.server, this.uri);
    } catch {
      return; // The text has changed in the meantime: that change draws again.
    }
    if (!diagram) return;
    this.diagram = diagram;
    this.tell({ type: 'diagram', uri: this.uri.toString(), svg: diagram.svg, problems: diagram.problems });
    this.mark();
    if (this.awaited.length > 0) this.tell({ type: 'png' });
  }

  /** The cursor has moved: in code perhaps to another workflow. */
  private follow(document: vscode.TextDocument): void {
    if (document.languageId === 'cpp') this.drawSoon();
    else this.mark();
  }

  private mark(): void {
    const editor = vscode.window.visibleTextEditors.find((one) => this.isMine(one.document));
    if (!editor || !this.diagram) return;
    this.tell({ type: 'mark', node: nodeAt(this.diagram.nodes, editor.selection.active.line)?.name ?? null });
  }

  private receive(message: unknown): void {
    if (!isFromPage(message)) return;
    if (message.type === 'ready') void this.draw();
    else if (message.type === 'open') void this.open(message.node);
    else for (const { done } of this.awaited.splice(0)) done(Buffer.from(message.data.slice(PNG.length), 'base64'));
  }

  private async open(name: string): Promise<void> {
    const node = this.diagram?.nodes.find((one) => one.name === name);
    if (!node) return;
    const shown = vscode.window.visibleTextEditors.find((one) => this.isMine(one.document));
    const document = await vscode.workspace.openTextDocument(this.uri);
    const editor = await vscode.window.showTextDocument(document, shown?.viewColumn ?? vscode.ViewColumn.One);
    select(editor, node.range.start);
  }
}

/** One picture for each document, and those of an earlier window again. */
export class Diagrams implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private readonly panels = new Map<string, Panel>();
  private readonly serializer = vscode.window.registerWebviewPanelSerializer('ebb.diagram', this);

  constructor(
    private readonly extension: vscode.Uri,
    private readonly server: Server,
  ) {}

  /** Of a document, or of the active editor's. A code lens gives the URI as text. */
  show(wanted?: vscode.Uri | string): void {
    const active = vscode.window.activeTextEditor?.document;
    const given = typeof wanted === 'string' ? vscode.Uri.parse(wanted, true) : wanted;
    const uri = given ?? (active && mayBeWorkflow(active) ? active.uri : undefined);
    if (!uri) {
      void vscode.window.showInformationMessage('Open a workflow first: the diagram shows the file in the editor.');
      return;
    }
    const present = this.panels.get(uri.toString());
    if (present) return present.reveal();
    const title = `Diagram of ${vscode.workspace.asRelativePath(uri)}`;
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    this.add(vscode.window.createWebviewPanel('ebb.diagram', title, place), uri);
  }

  /** The picture of a document as PNG, which its panel draws. */
  png(uri: vscode.Uri): Promise<Uint8Array> {
    this.show(uri);
    const panel = this.panels.get(uri.toString());
    return panel ? panel.png() : Promise.reject(new Error('There is no picture.'));
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const uri = (state as { uri?: unknown } | undefined)?.uri;
    if (typeof uri === 'string') this.add(panel, vscode.Uri.parse(uri, true));
    else panel.dispose();
  }

  dispose(): void {
    this.serializer.dispose();
    this.panels.forEach((panel) => panel.dispose());
  }

  private add(panel: vscode.WebviewPanel, uri: vscode.Uri): void {
    const key = uri.toString();
    this.panels.set(key, new Panel(panel, this.server, uri, this.extension, () => this.panels.delete(key)));
  }
}

const BODY = `<p id="state" role="status" hidden></p>
<input id="search" type="search" placeholder="Find a node (/)" aria-label="Find a node">
<main id="picture"></main>
<div id="map" hidden></div>`;

/** Goes to the lines of a node, if the server knows the document and the node. */
export async function openNode(server: Server, uri: vscode.Uri, name: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const shown = vscode.window.visibleTextEditors.find((one) => one.document === document);
  const editor = await vscode.window.showTextDocument(document, shown?.viewColumn ?? vscode.ViewColumn.One);
  const diagram = await ask(server, uri);
  const node = diagram?.nodes.find((one) => one.name === name);
  if (node) select(editor, node.range.start);
}

function select(editor: vscode.TextEditor, { line, character }: Position): void {
  const place = editor.document.validatePosition(new vscode.Position(line, character));
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

const FORMATS: Record<string, string> = { mmd: 'mermaid', dot: 'dot', gv: 'dot', puml: 'plantuml', txt: 'text' };

/** The ending of the target says which format is written. */
async function writeDiagram(server: Server, diagrams: Diagrams, uri: vscode.Uri, target: vscode.Uri): Promise<void> {
  const ending = target.path.replace(/^.*\./, '');
  if (ending === 'png') return vscode.workspace.fs.writeFile(target, await diagrams.png(uri));
  const diagram = await ask(server, uri, FORMATS[ending]);
  if (diagram) await vscode.workspace.fs.writeFile(target, Buffer.from(diagram.text ?? diagram.svg, 'utf8'));
}

/** Writes the picture of the active editor to a file that the user names. */
export async function exportDiagram(server: Server, diagrams: Diagrams, wanted?: vscode.Uri): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !mayBeWorkflow(document)) {
    void vscode.window.showInformationMessage('Open a workflow first: its diagram is exported.');
    return;
  }
  const near = document.uri.with({ path: document.uri.path.replace(/(\.ebb)?\.[^./]+$/, '') + '.svg' });
  const filters = { SVG: ['svg'], PNG: ['png'], Mermaid: ['mmd'], Graphviz: ['dot', 'gv'], PlantUML: ['puml'], Text: ['txt'] };
  const target = wanted ?? (await vscode.window.showSaveDialog({ defaultUri: near, filters }));
  if (target) await writeDiagram(server, diagrams, document.uri, target);
}
