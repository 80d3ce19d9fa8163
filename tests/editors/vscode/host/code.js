// Handlers in C++ and the workflows that call them, in one workspace.
const vscode = require('vscode');
const { ask, at, behind, open, problems, until } = require('./tools');

const missing = (document) => problems(document).filter((one) => one.code === 'missing_handler' || one.code?.value === 'missing_handler');
const titles = async (document) => (await vscode.commands.executeCommand('vscode.executeCodeLensProvider', document.uri, 100)).map((lens) => lens.command?.title);

exports['lenses say what can be done and who serves a handler'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  await until('the lens of the code', async () => (await titles(document)).includes('charge in handlers.cpp'));
  assert.deepEqual(await titles(document), ['Run', 'Show diagram', 'Validate', 'charge in handlers.cpp', 'pack: unserved']);
};

exports['the lens of a handler leads to the code'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const lenses = await vscode.commands.executeCommand('vscode.executeCodeLensProvider', document.uri, 100);
  const { command } = lenses.find((lens) => lens.command?.title.startsWith('charge'));
  await vscode.commands.executeCommand(command.command, ...command.arguments);
  const editor = vscode.window.activeTextEditor;
  assert.ok(editor.document.uri.path.endsWith('handlers.cpp'));
  assert.match(editor.document.lineAt(editor.selection.active.line).text, /add\("charge"/);
};

exports['a handler that no code registers is reported'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  await until('the warning', () => missing(document).length === 1);
  assert.equal(document.getText(missing(document)[0].range), 'pack');
  assert.equal(missing(document)[0].severity, vscode.DiagnosticSeverity.Warning);
};

exports['rename of a handler changes the workflow and the code'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const edit = await ask('DocumentRenameProvider', document, behind(document, 'handler: char'), 'take');
  assert.deepEqual(edit.entries().map(([uri]) => uri.path.split('/').at(-1)).sort(), ['handlers.cpp', 'order.ebb.yaml']);
  await vscode.workspace.applyEdit(edit);
  assert.match(document.getText(), /handler: take\n/);
  const code = await vscode.workspace.openTextDocument(at('handlers.cpp'));
  assert.match(code.getText(), /add\("take", charge\)/);
  await until('the index of the new name', async () => (await titles(document)).includes('take in handlers.cpp'));
  assert.equal(missing(document).length, 1);
};

exports['with ebb.cpp off, no code is looked at'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  await vscode.workspace.getConfiguration('ebb').update('cpp', false, vscode.ConfigurationTarget.Workspace);
  await until('no warning', () => missing(document).length === 0);
  assert.deepEqual(await titles(document), ['Run', 'Show diagram', 'Validate']);
};
