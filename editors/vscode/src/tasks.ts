import * as vscode from 'vscode';

interface Definition extends vscode.TaskDefinition {
  command: 'validate';
  files?: string[];
}

function makeTask(definition: Definition, folder: vscode.WorkspaceFolder): vscode.Task {
  const path = vscode.workspace.getConfiguration('ebb', folder).get<string>('path') || 'ebb';
  // A process and not a shell: a file name is never read as a command.
  const run = new vscode.ProcessExecution(path, [definition.command, ...(definition.files ?? ['.'])], { cwd: folder.uri.fsPath });
  const task = new vscode.Task(definition, folder, definition.command, 'ebb', run, ['$ebb']);
  task.group = vscode.TaskGroup.Build;
  return task;
}

/** `ebb: validate` for each folder. */
export class TaskProvider implements vscode.TaskProvider {
  provideTasks(): vscode.Task[] {
    return (vscode.workspace.workspaceFolders ?? []).map((folder) => makeTask({ type: 'ebb', command: 'validate' }, folder));
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const definition = task.definition as Definition;
    const scope = task.scope;
    const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
    return definition.command === 'validate' && folder ? makeTask(definition, folder) : undefined;
  }
}
