import * as vscode from 'vscode';
import { ask, Lines } from './command';
import type { Tokens } from './connections';
import type { Place } from './instances';
import { actsFor, shortId, type Act, type HistoryEvent, type Instance } from './model';
import { page } from './page';
import { isFromInstancePage, type ToInstancePage } from './protocol';

/** How long events may gather before the panel asks for the rest. */
const GATHER_MS = 120;
/** How often a live instance that is shown is looked at: the beginning of a step is not an event. */
const LOOK_MS = 1_500;
/** More than a person reads, less than a page can bear. */
const EVENTS_MAX = 2_000;

export interface Doings {
  act(act: Act, place: Place): Promise<void>;
  openNode(place: Place, node: string): Promise<void>;
}

/** One instance: why it is where it is, its picture, its timeline, its steps and its history, while it runs. */
class Panel {
  private events: HistoryEvent[] = [];
  private instance: Instance | undefined;
  private drawn = '';
  private lines: Lines | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isAsking = false;
  private mustAskAgain = false;

  constructor(
    readonly panel: vscode.WebviewPanel,
    private readonly place: Place,
    private readonly tokens: Tokens,
    private readonly doings: Doings,
    extension: vscode.Uri,
  ) {
    panel.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, 'out')] };
    panel.webview.onDidReceiveMessage((message: unknown) => this.receive(message));
    panel.onDidChangeViewState(() => panel.visible && this.lookSoon(0));
    panel.onDidDispose(() => {
      clearTimeout(this.timer);
      this.lines?.dispose();
    });
    panel.webview.html = page(panel.webview, extension, { name: 'instance', title: 'Instance', body: '<main id="instance"><p>Looking...</p></main>' });
  }

  lookSoon(wait: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), wait);
  }

  private tell(message: ToInstancePage): void {
    void this.panel.webview.postMessage(message);
  }

  private async begin(): Promise<void> {
    this.events = [];
    this.drawn = '';
    this.lines?.dispose();
    try {
      const target = await this.tokens.target(this.place.connection);
      this.lines = new Lines(['history', this.place.id, '--follow', '--output', 'jsonl'], target);
      this.lines.onLine((line) => this.read(line as unknown as HistoryEvent));
      this.lines.onEnd((complaint) => (complaint === undefined ? this.lookSoon(0) : this.tell({ type: 'fault', text: complaint })));
    } catch (error) {
      this.tell({ type: 'fault', text: wordsOf(error) });
    }
  }

  private read(event: HistoryEvent): void {
    this.events.push(event);
    if (this.events.length > EVENTS_MAX) this.events.shift();
    if (!this.isAsking) this.lookSoon(GATHER_MS);
    else this.mustAskAgain = true;
  }

  private async look(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    this.mustAskAgain = false;
    try {
      await this.show();
    } catch (error) {
      this.tell({ type: 'fault', text: wordsOf(error) });
    }
    this.isAsking = false;
    const isLive = this.instance?.finished_at === null;
    if (this.mustAskAgain) this.lookSoon(GATHER_MS);
    else if (isLive && this.panel.visible) this.lookSoon(LOOK_MS);
  }

  private async show(): Promise<void> {
    const target = await this.tokens.target(this.place.connection);
    const { id } = this.place;
    const instance = await ask<Instance>(['show', id], target);
    this.instance = instance;
    const state = JSON.stringify([instance, this.events.length]);
    // Nothing new but the time: the page lets the bars grow.
    if (state === this.drawn) return this.tell({ type: 'now', now: new Date().toISOString() });
    const [{ why }, { diagram }] = await Promise.all([
      ask<{ why: string }>(['why', id], target),
      // Not every workflow has a picture.
      ask<{ diagram: string }>(['diagram', id, '--format', 'svg'], target).catch(() => ({ diagram: '' })),
    ]);
    this.drawn = state;
    this.tell({ type: 'instance', shown: { instance, why, svg: diagram, events: this.events, now: new Date().toISOString() }, acts: actsFor(instance) });
  }

  private receive(message: unknown): void {
    if (!isFromInstancePage(message)) return;
    if (message.type === 'ready') void this.begin();
    else if (message.type === 'act') void this.doings.act(message.act, this.place).then(() => this.lookSoon(0));
    else if (message.type === 'open') void this.doings.openNode(this.place, message.node);
    else void this.openJson(message.title, message.pointer);
  }

  /** A value of the instance or of an event, to read. */
  private async openJson(title: string, pointer: (string | number)[]): Promise<void> {
    let value: unknown = { instance: this.instance, events: this.events };
    for (const key of pointer) value = (value as Record<string | number, unknown> | null | undefined)?.[key];
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(readOnly(title, value)), { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const SCHEME = 'ebb-value';
const VALUES_MAX = 50;
const values = new Map<string, string>();

/** The document of a value, which nobody can change. */
function readOnly(title: string, value: unknown): vscode.Uri {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title.replaceAll('/', ' ')}.json`, query: String(values.size) + String(Date.now()) });
  values.set(uri.toString(), JSON.stringify(value ?? null, null, 2));
  const oldest = values.keys().next().value;
  if (values.size > VALUES_MAX && oldest !== undefined) values.delete(oldest);
  return uri;
}

export const valueProvider = () => vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: (uri) => values.get(uri.toString()) ?? 'This value was closed. Open it again from the instance.' });

/** One panel for each instance. */
export class InstancePanels implements vscode.Disposable {
  private readonly panels = new Map<string, Panel>();

  constructor(
    private readonly extension: vscode.Uri,
    private readonly tokens: Tokens,
    private readonly doings: Doings,
  ) {}

  show(place: Place): void {
    const key = `${place.connection.url} ${place.id}`;
    const present = this.panels.get(key);
    if (present) return present.panel.reveal(undefined, true);
    const title = `${place.workflow} ${shortId(place.id)}`;
    const panel = vscode.window.createWebviewPanel('ebb.instance', title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { retainContextWhenHidden: true });
    this.panels.set(key, new Panel(panel, place, this.tokens, this.doings, this.extension));
    panel.onDidDispose(() => this.panels.delete(key));
  }

  /** After something was done to an instance from elsewhere. */
  refresh(): void {
    for (const panel of this.panels.values()) panel.lookSoon(0);
  }

  dispose(): void {
    for (const { panel } of this.panels.values()) panel.dispose();
  }
}
