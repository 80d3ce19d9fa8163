import * as vscode from 'vscode';
import { Comparison } from './compare';
import { Tokens, type Connection } from './connections';
import { CountLenses } from './counts';
import { openNode } from './diagram';
import { InstancePanels, valueProvider } from './instance_panel';
import { Instances, placeOf, type Item, type Place } from './instances';
import type { Act } from './model';
import { Runs, type InputChoice } from './runs';
import { mayBeWorkflow, SELECTOR, type Server } from './server';
import { steer } from './steer';

const FILES_MAX = 500;

/** The file of a workflow: that of its run, or else the one in the workspace that names it. */
async function fileOf(runs: Runs, { connection, workflow }: Place): Promise<vscode.Uri | undefined> {
  const run = runs.find(connection.url);
  if (run) return vscode.Uri.file(run.file);
  const wanted = new RegExp(`^workflow:\\s*["']?${workflow.replace(/[^\w]/g, '\\$&')}["']?\\s*(#.*)?$`, 'm');
  const open = vscode.workspace.textDocuments.find((one) => mayBeWorkflow(one) && wanted.test(one.getText()));
  if (open) return open.uri;
  const files = await vscode.workspace.findFiles('**/*.{yaml,yml}', undefined, FILES_MAX);
  for (const file of files) {
    if (wanted.test(Buffer.from(await vscode.workspace.fs.readFile(file)).toString('utf8'))) return file;
  }
  return undefined;
}

/** Runs, connections and their instances. All of it begins with an act of the person, in a trusted workspace. */
export function beginRunning(context: vscode.ExtensionContext, server: Server): void {
  const tokens = new Tokens(context.secrets);
  const runs = new Runs(context, server);
  const instances = new Instances(tokens, runs);
  const panels = new InstancePanels(context.extensionUri, tokens, {
    act: (act, place) => doAct(act, place),
    openNode: async (place, node) => {
      const file = await fileOf(runs, place);
      if (file) await openNode(server, file, node);
      else void vscode.window.showInformationMessage(`No file of this workspace has the workflow ${place.workflow}.`);
    },
  });

  async function doAct(act: Act, place: Place): Promise<void> {
    try {
      if (!(await steer(act, place.id, await tokens.target(place.connection)))) return;
      const run = runs.find(place.connection.url);
      if (run) await runs.goOn(run);
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
    instances.refresh();
    panels.refresh();
  }

  async function run(uri?: vscode.Uri | string, input: InputChoice = 'ask'): Promise<void> {
    const begun = await runs.run(uri, input);
    if (begun) panels.show(placeOf(begun));
  }

  const comparison = new Comparison(context.extensionUri, tokens, (uri, node) => openNode(server, uri, node));
  const lenses = new CountLenses(instances);
  const view = vscode.window.createTreeView('ebb.instances', { treeDataProvider: instances });

  const of = (item: unknown) => (item as (Item & { is: 'instance' }) | undefined)?.place;
  const onInstance = (act: Act) => (item: unknown) => {
    const place = of(item);
    return place ? doAct(act, place) : undefined;
  };
  const connectionOf = (item: unknown) => (item as { connection?: Connection } | undefined)?.connection;
  context.subscriptions.push(
    runs,
    panels,
    comparison,
    lenses,
    vscode.languages.registerCodeLensProvider(SELECTOR, lenses),
    valueProvider(),
    view,
    // The settings may have come, or changed, while the tree was hidden.
    view.onDidChangeVisibility(({ visible }) => visible && instances.refresh()),
    instances.onDidCount(() => {
      const count = instances.deadLetters();
      view.badge = count > 0 ? { value: count, tooltip: `${count} dead-lettered` } : undefined;
    }),
    runs.onDidChange(() => instances.refresh()),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('ebb.connections') && instances.refresh()),
    vscode.commands.registerCommand('ebb.run', (uri?: vscode.Uri | string) => run(uri)),
    vscode.commands.registerCommand('ebb.runAgain', (uri?: vscode.Uri | string) => run(uri, 'last')),
    vscode.commands.registerCommand('ebb.compare', (uri?: vscode.Uri | string) => comparison.run(uri)),
    vscode.commands.registerCommand('ebb.refreshInstances', () => instances.refresh()),
    vscode.commands.registerCommand('ebb.openInstance', (place: Place) => panels.show(place)),
    vscode.commands.registerCommand('ebb.continueRun', (item: Item & { is: 'instance' }) => (item.run ? runs.goOn(item.run) : undefined)),
    vscode.commands.registerCommand('ebb.setToken', (item?: unknown) => tokens.ask(connectionOf(item))),
    vscode.commands.registerCommand('ebb.addConnection', () => vscode.commands.executeCommand('workbench.action.openSettings', 'ebb.connections')),
    vscode.commands.registerCommand('ebb.filterInstances', (item: unknown) => {
      const connection = connectionOf(item);
      return connection ? instances.filter(connection) : undefined;
    }),
    vscode.commands.registerCommand('ebb.decide', onInstance('decide')),
    vscode.commands.registerCommand('ebb.signal', onInstance('signal')),
    vscode.commands.registerCommand('ebb.requeue', onInstance('requeue')),
    vscode.commands.registerCommand('ebb.pause', onInstance('pause')),
    vscode.commands.registerCommand('ebb.resume', onInstance('resume')),
    vscode.commands.registerCommand('ebb.cancel', onInstance('cancel')),
    vscode.commands.registerCommand('ebb.abort', onInstance('abort')),
  );
}
