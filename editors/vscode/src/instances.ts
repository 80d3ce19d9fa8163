import * as vscode from 'vscode';
import { ask } from './command';
import { connections, type Connection, type Tokens } from './connections';
import { actsFor, countsText, shortId, type Summary } from './model';
import type { Run, Runs } from './runs';

/** How many instances of a workflow are listed. */
const LIST_MAX = 50;

export const RUNS_HERE = 'Runs on this machine';

/** An instance, and where it is. */
export interface Place {
  connection: Connection;
  id: string;
  workflow: string;
}

/** By workflow, then by status. */
type Counts = Record<string, Record<string, number>>;

export type Item =
  | { is: 'runs' }
  | { is: 'connection'; connection: Connection }
  | { is: 'decisions'; connection: Connection }
  | { is: 'workflow'; connection: Connection; workflow: string; counts: Record<string, number> }
  | { is: 'instance'; place: Place; summary: Summary; run?: Run }
  | { is: 'message'; text: string; isError: boolean };

const ICONS: Record<string, [string, string?]> = {
  running: ['sync'],
  waiting: ['watch'],
  paused: ['debug-pause'],
  compensating: ['discard', 'charts.orange'],
  dead_letter: ['warning', 'charts.red'],
  completed: ['pass', 'charts.green'],
  failed: ['error', 'charts.red'],
  cancelled: ['circle-slash'],
  aborted: ['stop-circle'],
  moved: ['arrow-right'],
};

const iconOf = (status: string) => {
  const [name, color] = ICONS[status] ?? ['circle-outline'];
  return new vscode.ThemeIcon(name, color === undefined ? undefined : new vscode.ThemeColor(color));
};

/** "running" of an instance that only waits says less than "waiting". */
const shownStatus = ({ status, waiting_for: waits }: Summary) => (status === 'running' && waits?.length && !waits.some((wait) => wait.kind === 'handler') ? 'waiting' : status);

/** The tree of runs and of the instances of each connection. A store or server is asked only when a person opens it. */
export class Instances implements vscode.TreeDataProvider<Item> {
  private readonly changed = new vscode.EventEmitter<Item | undefined>();
  private readonly filters = new Map<string, string>();
  private readonly counted = new vscode.EventEmitter<void>();
  private readonly counts = new Map<string, { connection: Connection; workflows: Counts }>();
  /** A connection has told how many instances it has. */
  readonly onDidCount = this.counted.event;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly tokens: Tokens,
    private readonly runs: Runs,
  ) {}

  /** As the connections told when they were asked last. */
  countsOf(workflow: string): { connection: Connection; counts: Record<string, number> }[] {
    return this.told().map(({ connection, workflows }) => ({ connection, counts: workflows[workflow] ?? {} }));
  }

  /** Of the connections that were asked. */
  deadLetters(): number {
    const counts = this.told().flatMap(({ workflows }) => Object.values(workflows));
    return counts.reduce((sum, one) => sum + (one.dead_letter ?? 0), 0);
  }

  private told() {
    const present = new Set(connections().map(({ url }) => url));
    return [...this.counts.values()].filter(({ connection }) => present.has(connection.url));
  }

  refresh(item?: Item): void {
    this.changed.fire(item);
  }

  async filter(connection: Connection): Promise<void> {
    const value = this.filters.get(connection.url) ?? '';
    const prompt = 'Such as status == "dead_letter" && labels.customer == "acme". Empty: all, by workflow.';
    const filter = await vscode.window.showInputBox({ title: `Instances of ${connection.name}`, value, prompt, ignoreFocusOut: true });
    if (filter === undefined) return;
    if (filter.trim() === '') this.filters.delete(connection.url);
    else this.filters.set(connection.url, filter.trim());
    this.refresh();
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (!item) return [{ is: 'runs' }, ...connections().map((connection): Item => ({ is: 'connection', connection }))];
    try {
      if (item.is === 'runs') return await this.runsHere();
      if (item.is === 'connection') return await this.workflowsOf(item.connection);
      if (item.is === 'workflow') return await this.list(item.connection, ['--workflow', item.workflow]);
      if (item.is === 'decisions') return await this.list(item.connection, ['--waiting', 'person'], 'No decision is awaited.');
    } catch (error) {
      return [{ is: 'message', text: error instanceof Error ? error.message : String(error), isError: true }];
    }
    return [];
  }

  getTreeItem(item: Item): vscode.TreeItem {
    if (item.is === 'instance') return this.instanceItem(item);
    if (item.is === 'message') {
      const shown = new vscode.TreeItem(item.text);
      shown.iconPath = new vscode.ThemeIcon(item.isError ? 'error' : 'info');
      shown.tooltip = item.text;
      return shown;
    }
    const words = item.is === 'runs' ? RUNS_HERE : item.is === 'decisions' ? 'Decisions' : item.is === 'workflow' ? item.workflow : item.connection.name;
    const shown = new vscode.TreeItem(words, vscode.TreeItemCollapsibleState.Collapsed);
    shown.contextValue = item.is;
    // What is open stays open when the tree is read again.
    shown.id = item.is === 'runs' ? 'runs' : item.is === 'workflow' ? `workflow ${item.connection.url} ${item.workflow}` : `${item.is} ${item.connection.url}`;
    if (item.is === 'workflow') shown.description = countsText(item.counts);
    if (item.is === 'workflow') shown.iconPath = new vscode.ThemeIcon('type-hierarchy');
    if (item.is === 'decisions') shown.iconPath = new vscode.ThemeIcon('law');
    if (item.is === 'decisions') shown.tooltip = 'Instances that wait for a person';
    if (item.is === 'runs') shown.iconPath = new vscode.ThemeIcon('device-desktop');
    if (item.is === 'connection') {
      shown.description = this.filters.get(item.connection.url) ?? item.connection.url;
      shown.iconPath = new vscode.ThemeIcon('database');
      shown.tooltip = item.connection.url;
    }
    return shown;
  }

  private instanceItem(item: Item & { is: 'instance' }): vscode.TreeItem {
    const { summary, place } = item;
    const status = shownStatus(summary);
    const label = item.run ? summary.workflow : (summary.key ?? shortId(summary.id));
    const shown = new vscode.TreeItem(label);
    shown.id = `instance ${place.connection.url} ${summary.id}`;
    shown.description = `${status.replaceAll('_', ' ')} ${new Date(summary.created_at).toLocaleString()}`;
    shown.tooltip = [summary.id, ...(summary.waiting_for ?? []).map((wait) => wait.sentence)].join('\n');
    shown.iconPath = iconOf(status);
    // Menus look for these words.
    shown.contextValue = ['instance', ...actsFor(summary), ...(item.run && summary.finished_at === null ? ['run'] : [])].join(' ');
    shown.command = { command: 'ebb.openInstance', title: 'Open', arguments: [place] };
    shown.accessibilityInformation = { label: `${summary.workflow} ${label}, ${status.replaceAll('_', ' ')}` };
    return shown;
  }

  private async runsHere(): Promise<Item[]> {
    const found = await Promise.all(
      this.runs.all().map(async (run): Promise<Item[]> => {
        // The file of a run can be gone.
        const summary = await this.runs.summary(run).catch(() => undefined);
        return summary ? [{ is: 'instance', place: placeOf(run), summary, run }] : [];
      }),
    );
    const items = found.flat();
    return items.length > 0 ? items : [{ is: 'message', text: 'None yet: "Ebb: Run Workflow" makes one.', isError: false }];
  }

  private async workflowsOf(connection: Connection): Promise<Item[]> {
    const filter = this.filters.get(connection.url);
    if (filter !== undefined) return this.list(connection, ['--where', filter]);
    const { workflows } = await ask<{ workflows: Counts }>(['stats'], await this.tokens.target(connection));
    this.counts.set(connection.url, { connection, workflows });
    this.counted.fire();
    const items = Object.entries(workflows).map(([workflow, counts]): Item => ({ is: 'workflow', connection, workflow, counts }));
    if (items.length === 0) return [{ is: 'message', text: 'No instances.', isError: false }];
    return [{ is: 'decisions', connection }, ...items];
  }

  private async list(connection: Connection, words: string[], none = 'No instances.'): Promise<Item[]> {
    const summaries = await ask<Summary[]>(['list', ...words, '--limit', String(LIST_MAX)], await this.tokens.target(connection));
    const items = summaries.map((summary): Item => ({ is: 'instance', place: { connection, id: summary.id, workflow: summary.workflow }, summary }));
    if (items.length === LIST_MAX) items.push({ is: 'message', text: `The newest ${LIST_MAX}. A filter finds others.`, isError: false });
    return items.length > 0 ? items : [{ is: 'message', text: none, isError: false }];
  }
}

export const placeOf = (run: Run): Place => ({ connection: { name: RUNS_HERE, url: run.db }, id: run.id, workflow: run.workflow });
