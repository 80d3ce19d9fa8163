import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { ask, Lines, types, type Target } from './command';
import { missingHandlers, type Summary } from './model';
import { faultOfJson } from './steer';
import { mayBeWorkflow, type Server } from './server';

/** A run on this machine, in a database of its own: so a changed workflow needs no new version. */
export interface Run {
  id: string;
  workflow: string;
  file: string;
  db: string;
  /** Handlers that the file does not describe return their input. */
  hasStubs?: boolean;
}

/** What `ebb/samples` answers. */
interface Sample {
  name: string;
  input: unknown;
}

/** Where the input of a run comes from: the person, or the run before if there was one. */
export type InputChoice = 'ask' | 'last';

const RUNS = 'ebb.runs';
const LAST = 'ebb.input:';
const RUNS_MAX = 20;
const NAMES_MAX = 5;
const LABEL_MAX = 80;

const optionsOf = ({ hasStubs }: Run) => [...types(), ...(hasStubs ? ['--stub', 'echo'] : [])];
const targetOf = (run: Pick<Run, 'db'>): Target => ({ args: ['--db', run.db] });

export class Runs implements vscode.Disposable {
  private readonly live = new Map<string, Lines>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly server: Server,
  ) {}

  /** The newest first. */
  all(): Run[] {
    return this.context.workspaceState.get<Run[]>(RUNS) ?? [];
  }

  find(db: string): Run | undefined {
    return this.all().find((run) => run.db === db);
  }

  /** Runs a workflow with an input that the person picks or writes; gives the run when it has begun. */
  async run(wanted?: vscode.Uri | string, choice: InputChoice = 'ask'): Promise<Run | undefined> {
    const given = typeof wanted === 'string' ? vscode.Uri.parse(wanted, true) : wanted;
    const document = given ? await vscode.workspace.openTextDocument(given) : vscode.window.activeTextEditor?.document;
    if (!document || !mayBeWorkflow(document) || document.languageId === 'cpp') {
      void vscode.window.showInformationMessage('Open a workflow in YAML or JSON first: it is what runs.');
      return undefined;
    }
    if ((document.isUntitled || document.isDirty) && !(await document.save())) return undefined;
    const last = choice === 'last' ? this.lastInput(document) : undefined;
    const input = last ?? (await this.pickInput(document));
    if (input === undefined) return undefined;
    const hasStubs = await this.pickStubs(document);
    if (hasStubs === undefined) return undefined;
    const db = await this.makeDatabase();
    const file = document.uri.fsPath;
    const begun: Run = { id: '', workflow: '', file, db, hasStubs };
    const run = await this.follow(['run', file, '--input', '-', '--events', ...optionsOf(begun)], begun, input);
    if (run) await this.keep([run, ...this.all()]);
    return run;
  }

  /** Continues a run that has not ended and that no program runs, such as a requeued one. */
  async goOn(run: Run): Promise<void> {
    if (this.live.has(run.db)) return;
    await this.follow(['run', run.file, '--resume', run.id, '--events', ...optionsOf(run)], run);
  }

  async summary(run: Run): Promise<Summary | undefined> {
    return (await ask<Summary[]>(['list', '--limit', '1'], targetOf(run)))[0];
  }

  /** What runs ends in an orderly way: its database keeps it. */
  dispose(): void {
    for (const lines of this.live.values()) lines.dispose();
  }

  /** Starts the command; it has begun when its first line names the instance. */
  private follow(words: string[], begun: Run, input?: string): Promise<Run | undefined> {
    const lines = new Lines(words, targetOf(begun), input);
    this.live.set(begun.db, lines);
    return new Promise((done) => {
      lines.onLine(({ id, workflow, seq }) => {
        if (seq === undefined && typeof id === 'string' && typeof workflow === 'string') done({ ...begun, id, workflow });
        this.changed.fire();
      });
      lines.onEnd((complaint) => {
        this.live.delete(begun.db);
        this.changed.fire();
        done(undefined);
        // How an instance ended is in its panel; here is why none began.
        if (complaint !== undefined && !this.find(begun.db)) void vscode.window.showErrorMessage(`Ebb cannot run this workflow. ${complaint}`);
      });
    });
  }

  private async makeDatabase(): Promise<string> {
    const home = this.context.storageUri ?? this.context.globalStorageUri;
    const folder = vscode.Uri.joinPath(home, 'runs');
    await vscode.workspace.fs.createDirectory(folder);
    return vscode.Uri.joinPath(folder, `${randomBytes(8).toString('hex')}.db`).fsPath;
  }

  /** Keeps the newest runs and those that still run. */
  private async keep(runs: Run[]): Promise<void> {
    const kept = runs.filter((run, place) => place < RUNS_MAX || this.live.has(run.db));
    await this.context.workspaceState.update(RUNS, kept);
    this.changed.fire();
    for (const { db } of runs.filter((run) => !kept.includes(run))) {
      for (const ending of ['', '-wal', '-shm']) await vscode.workspace.fs.delete(vscode.Uri.file(db + ending)).then(undefined, () => undefined);
    }
  }

  /** Whether missing handlers are stubs; undefined if the person gave up. */
  private async pickStubs(document: vscode.TextDocument): Promise<boolean | undefined> {
    const textDocument = { uri: document.uri.toString() };
    // A text with problems is refused by the command, which says why.
    const answer = await this.server.ask<{ definition: unknown }>('ebb/definitionJson', { textDocument }).catch(() => undefined);
    const missing = answer ? missingHandlers(answer.definition) : [];
    if (missing.length === 0) return false;
    const items = [
      { label: 'Return their input', description: 'to try the workflow without them', hasStubs: true },
      { label: 'Wait for a worker that has them', description: 'the instance waits until one comes', hasStubs: false },
    ];
    const title = `"handlers" does not describe ${missing.slice(0, NAMES_MAX).join(', ')}${missing.length > NAMES_MAX ? ', ...' : ''}. What do they do?`;
    return (await vscode.window.showQuickPick(items, { title }))?.hasStubs;
  }

  private lastInput(document: vscode.TextDocument): string | undefined {
    return this.context.workspaceState.get<string>(LAST + document.uri.toString());
  }

  /** JSON text, or undefined if the person gave up. */
  private async pickInput(document: vscode.TextDocument): Promise<string | undefined> {
    const last = this.lastInput(document);
    const samples = (await this.server.ask<Sample[]>('ebb/samples', { textDocument: { uri: document.uri.toString() } }).catch(() => undefined)) ?? [];
    const items: (vscode.QuickPickItem & { input?: string })[] = samples.map(({ name, input }) => {
      const text = JSON.stringify(input);
      return { label: name, description: text.slice(0, LABEL_MAX), input: text };
    });
    if (last !== undefined) items.push({ label: 'The last input', description: last.slice(0, LABEL_MAX), input: last });
    items.push({ label: 'Another input...' });
    const picked = samples.length > 0 ? await vscode.window.showQuickPick(items, { title: 'Run with which input?' }) : items.at(-1);
    if (!picked) return undefined;
    const input = picked.input ?? (await vscode.window.showInputBox({ title: 'Input of the workflow: JSON', value: last ?? '{}', ignoreFocusOut: true, validateInput: faultOfJson }));
    if (input !== undefined) await this.context.workspaceState.update(LAST + document.uri.toString(), input);
    return input;
  }
}
