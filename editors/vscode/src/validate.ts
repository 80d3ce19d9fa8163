import * as vscode from 'vscode';
import { ask, folder, NOWHERE, types } from './command';

interface Range {
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

interface Related extends Range {
  file?: string;
  message: string;
}

/** What `ebb validate --json` says of a problem. Lines and columns count from 1, columns in characters. */
interface Problem extends Range {
  code: string;
  message: string;
  severity: string;
  related?: Related[];
}

interface Checked {
  file: string;
  problems: Problem[];
}

/** "Without problems" is 0, "with problems" is 2. */
const STATUSES = [0, 2];

function rangeOf({ line, column, end_line: endLine, end_column: endColumn }: Range): vscode.Range {
  const at = (row: number, character: number) => new vscode.Position(Math.max(row - 1, 0), Math.max(character - 1, 0));
  return new vscode.Range(at(line, column), at(endLine || line, endColumn || column + 1));
}

function diagnosticOf(problem: Problem, uri: vscode.Uri): vscode.Diagnostic {
  const isWarning = problem.severity === 'warning';
  const one = new vscode.Diagnostic(rangeOf(problem), problem.message, isWarning ? vscode.DiagnosticSeverity.Warning : vscode.DiagnosticSeverity.Error);
  one.source = 'ebb';
  one.code = problem.code;
  const related = (problem.related ?? []).filter((other) => other.line > 0);
  one.relatedInformation = related.map((other) => new vscode.DiagnosticRelatedInformation(new vscode.Location(uri, rangeOf(other)), other.message));
  return one;
}

const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;

/** The problems of files that are not open: those of an open one come from the server while it is edited. */
export class Validation implements vscode.Disposable {
  private readonly found = vscode.languages.createDiagnosticCollection('ebb-validate');
  private readonly disposables = [
    this.found,
    vscode.workspace.onDidOpenTextDocument(({ uri }) => this.found.delete(uri)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => this.found.delete(document.uri)),
  ];

  /** Of one file, as a code lens gives it, or of all workflows of the workspace. */
  async run(wanted?: vscode.Uri | string): Promise<void> {
    const uri = typeof wanted === 'string' ? vscode.Uri.parse(wanted, true) : wanted;
    const root = folder();
    if (!uri && root === undefined) {
      void vscode.window.showInformationMessage('Open a folder first: its workflows are validated.');
      return;
    }
    try {
      const files = uri ? [uri.fsPath] : (vscode.workspace.workspaceFolders ?? []).map((one) => one.uri.fsPath);
      const words = ['validate', '--lint', ...types(), ...(uri ? [] : ['--if-workflow']), ...files];
      this.show(await ask<Checked[]>(words, NOWHERE, STATUSES), root);
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  }

  dispose(): void {
    for (const one of this.disposables) one.dispose();
  }

  private show(checked: Checked[], root: string | undefined): void {
    this.found.clear();
    const open = new Set(vscode.workspace.textDocuments.map(({ uri }) => uri.toString()));
    let problems = 0;
    for (const { file, problems: onDisk } of checked) {
      const uri = file.startsWith('/') || root === undefined ? vscode.Uri.file(file) : vscode.Uri.joinPath(vscode.Uri.file(root), file);
      // An open file may not be saved yet: the server knows it as it is.
      const isOpen = open.has(uri.toString());
      problems += isOpen ? vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'ebb').length : onDisk.length;
      if (!isOpen) this.found.set(uri, onDisk.map((problem) => diagnosticOf(problem, uri)));
    }
    const words = `Ebb: ${counted(checked.length, 'file')}, ${problems === 0 ? 'no problem' : counted(problems, 'problem')}.`;
    void vscode.window.showInformationMessage(words);
    if (problems > 0) void vscode.commands.executeCommand('workbench.actions.view.problems');
  }
}
