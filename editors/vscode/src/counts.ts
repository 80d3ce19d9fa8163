import * as vscode from 'vscode';
import type { Instances } from './instances';
import { countsText } from './model';

/** Above the name of a workflow: how many instances each connection has that a person has opened in the view. */
export class CountLenses implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly watcher: vscode.Disposable;
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly instances: Instances) {
    this.watcher = instances.onDidCount(() => this.changed.fire());
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const found = /^workflow:\s*["']?([^"'\s#]+)/m.exec(document.getText());
    if (!found) return [];
    const place = document.positionAt(found.index);
    const lenses: vscode.CodeLens[] = [];
    for (const { connection, counts } of this.instances.countsOf(found[1] ?? '')) {
      const words = countsText(counts);
      if (words === '') continue;
      lenses.push(new vscode.CodeLens(new vscode.Range(place, place), { title: `${connection.name}: ${words}`, command: 'ebb.instances.focus' }));
    }
    return lenses;
  }

  dispose(): void {
    this.watcher.dispose();
    this.changed.dispose();
  }
}
