// Asks VS Code and waits for what it answers.
const vscode = require('vscode');

const folder = () => vscode.workspace.workspaceFolders[0].uri;
const at = (name) => vscode.Uri.joinPath(folder(), name);

async function open(name) {
  const document = await vscode.workspace.openTextDocument(at(name));
  return vscode.window.showTextDocument(document);
}

/** Asks again until the answer is true. The test's own limit ends a wait without success. */
async function until(words, condition) {
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    await new Promise((done) => setTimeout(done, 20));
    until.waitsFor = words;
  }
}

/** The position behind the first occurrence of a text. */
function behind(document, text) {
  const offset = document.getText().indexOf(text);
  if (offset < 0) throw new Error(`"${text}" is not in the document`);
  return document.positionAt(offset + text.length);
}

const ask = (command, document, position, ...more) => vscode.commands.executeCommand(`vscode.execute${command}`, document.uri, position, ...more);
const problems = (document) => vscode.languages.getDiagnostics(document.uri);

module.exports = { ask, at, behind, folder, open, problems, until };
