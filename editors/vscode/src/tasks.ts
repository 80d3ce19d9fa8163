import * as vscode from 'vscode';

interface Definition extends vscode.TaskDefinition {
  command: 'validate' | 'run';
  files?: string[];
  input?: string;
}

/** A task of tasks.json may say anything. */
function wordsOf({ command, files, input }: Definition): string[] | undefined {
  if (command === 'validate') return ['validate', ...(files ?? ['.'])];
  const [file] = files ?? [];
  if (command !== 'run' || file === undefined) return undefined;
  return ['run', file, ...(input === undefined ? [] : ['--input', input])];
}

function makeTask(definition: Definition, folder: vscode.WorkspaceFolder): vscode.Task | undefined {
  const words = wordsOf(definition);
  if (!words) return undefined;
  const path = vscode.workspace.getConfiguration('ebb', folder).get<string>('path') || 'ebb';
  // A process and not a shell: a file name is never read as a command.
  const run = new vscode.ProcessExecution(path, words, { cwd: folder.uri.fsPath });
  const task = new vscode.Task(definition, folder, definition.command, 'ebb', run, ['$ebb']);
  if (definition.command === 'validate') task.group = vscode.TaskGroup.Build;
  return task;
}

/** `ebb: validate` for each folder. */
export class TaskProvider implements vscode.TaskProvider {
  provideTasks(): vscode.Task[] {
    return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) => makeTask({ type: 'ebb', command: 'validate' }, folder) ?? []);
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const definition = task.definition as Definition;
    const scope = task.scope;
    const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
    return folder ? makeTask(definition, folder) : undefined;
  }
}
