// The features of the extension in a trusted workspace.
const vscode = require('vscode');
const { ask, at, behind, folder, open, problems, until } = require('./tools');

async function edit(editor, range, text) {
  await editor.edit((builder) => builder.replace(range, text));
}

exports['a workflow gets its language from its name'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  assert.equal(document.languageId, 'ebb');
};

exports['a problem appears at its place, and its quick fix repairs it'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  await until('a problem', () => problems(document).length === 1);
  const [problem] = problems(document);
  assert.equal(document.getText(problem.range), 'timout');
  assert.match(problem.message, /timeout/);
  assert.equal(problem.source, 'ebb');
  const actions = await ask('CodeActionProvider', document, problem.range, 'quickfix');
  const fix = actions.find((action) => action.edit);
  assert.ok(fix, JSON.stringify(actions));
  await vscode.workspace.applyEdit(fix.edit);
  await until('no problem', () => problems(document).length === 0);
  assert.match(document.getText(), /\n {4}timeout: 5s\n/);
};

exports['completion offers the steps that can have completed'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const list = await ask('CompletionItemProvider', document, behind(document, '${ steps.'), '.');
  const labels = list.items.map((item) => item.label.label ?? item.label);
  assert.ok(labels.includes('reserve'), labels.join(' '));
  assert.ok(!labels.includes('charge'), labels.join(' '));
};

exports['hover explains a step'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const [hover] = await ask('HoverProvider', document, behind(document, '- step: re'));
  assert.match(hover.contents.map((one) => one.value).join('\n'), /step reserve[^]*undone by: release/);
};

exports['definition and rename reach expressions'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const use = behind(document, '${ steps.rese');
  const [definition] = await ask('DefinitionProvider', document, use);
  assert.equal((definition.range ?? definition.targetRange).start.line, 3);
  const renamed = await ask('DocumentRenameProvider', document, use, 'hold');
  const texts = renamed.get(document.uri).map((one) => one.newText).join(' ');
  assert.match(texts, /hold/);
  assert.match(texts, /handler: reserve/);
};

exports['completion writes a whole node, with the indent of its place'] = async (assert) => {
  const document = await vscode.workspace.openTextDocument({ language: 'ebb', content: 'workflow: w\nsteps:\n  - before\n  - con' });
  await vscode.window.showTextDocument(document);
  const list = await until('completion', async () => {
    const found = await ask('CompletionItemProvider', document, new vscode.Position(3, 7));
    return found.items.length > 0 && found;
  });
  const item = list.items.find((one) => (one.label.label ?? one.label) === 'condition');
  assert.ok(item.insertText instanceof vscode.SnippetString, JSON.stringify(item));
  assert.equal(item.keepWhitespace, true);
  assert.match(item.insertText.value, /^condition: [^]*\n {4}when: /);
};

exports['a node can be written another way, and a workflow as the engine has it'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const place = behind(document, '- step: charg');
  const actions = await ask('CodeActionProvider', document, new vscode.Range(place, place), 'refactor.rewrite');
  assert.ok(actions.some((action) => action.title === 'Write on one line' && action.edit), JSON.stringify(actions));
  await vscode.commands.executeCommand('ebb.copyText', 'handlers.add("charge");');
  assert.equal(await vscode.env.clipboard.readText(), 'handlers.add("charge");');
  const refund = await open('refund.yaml');
  await until('the server', async () => (await ask('DocumentSymbolProvider', refund.document))?.length > 0);
  await vscode.commands.executeCommand('ebb.showExpanded');
  const expanded = await until('the expanded text', () => vscode.window.visibleTextEditors.find((one) => one.document.isUntitled && one.document.getText().includes('pay_back')));
  assert.match(expanded.document.getText(), /^workflow: refund\n/);
};

exports['the outline names the nodes'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const [root] = await ask('DocumentSymbolProvider', document);
  assert.deepEqual([root.name, ...root.children.map((one) => one.name)], ['order', 'reserve', 'charge']);
};

exports['a YAML file with a workflow gets the language, and another keeps its own'] = async (assert) => {
  const { document } = await open('refund.yaml');
  await until('the language', () => vscode.workspace.textDocuments.some((one) => one.uri.path === document.uri.path && one.languageId === 'ebb'));
  const other = await open('machine.yaml');
  assert.equal(await vscode.commands.executeCommand('vscode.executeDocumentSymbolProvider', other.document.uri).then((found) => found?.length ?? 0), 0);
  assert.equal(other.document.languageId, 'yaml');
  assert.deepEqual(problems(other.document), []);
};

exports['a broken text keeps its outline, and typing loses nothing'] = async (assert) => {
  const editor = await open('refund.yaml');
  const end = editor.document.lineAt(editor.document.lineCount - 1).range.end;
  await edit(editor, new vscode.Range(end, end), '  - step: last\n    when: "${\n');
  await until('a problem', () => problems(editor.document).length > 0);
  const [root] = await ask('DocumentSymbolProvider', editor.document);
  assert.ok(root.children.some((one) => one.name === 'last'));
  await vscode.commands.executeCommand('workbench.action.files.revert');
};

exports['each snippet gives a workflow without a problem'] = async (assert) => {
  const extension = vscode.extensions.getExtension('ebb.ebb');
  const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(extension.extensionUri, 'snippets/ebb.json'));
  const { packageJSON } = extension;
  assert.ok(packageJSON.contributes.snippets.length >= 2);
  for (const [name, { body }] of Object.entries(JSON.parse(Buffer.from(bytes).toString('utf8')))) {
    const document = await vscode.workspace.openTextDocument({ language: 'ebb', content: 'workflow: w\ndeadline: 30d\nsteps:\n  - before\n  ' });
    const editor = await vscode.window.showTextDocument(document);
    await editor.insertSnippet(new vscode.SnippetString(body.join('\n')), new vscode.Position(4, 2));
    await until('the text of the snippet', () => document.lineCount > 5);
    // The server sends problems behind the first answer about a text and before the second one.
    await ask('DocumentSymbolProvider', document);
    const [root] = await ask('DocumentSymbolProvider', document);
    assert.equal(root.children.length, 2, `${name}: ${document.getText()}`);
    const found = problems(document).map((one) => one.message);
    assert.deepEqual(found, [], `${name}: ${document.getText()}`);
  }
};

exports['the task validates the folder'] = async (assert) => {
  const tasks = await vscode.tasks.fetchTasks({ type: 'ebb' });
  assert.deepEqual(tasks.map((task) => task.name), ['validate']);
  assert.deepEqual(tasks[0].execution.args, ['validate', '.']);
  assert.equal(tasks[0].execution.options.cwd, folder().fsPath);
  assert.deepEqual(tasks[0].problemMatchers, ['$ebb']);
};

exports['the picture is exported, by the ending of the file'] = async (assert) => {
  await open('shop.ebb.yaml');
  const beginning = async (name) => {
    await vscode.commands.executeCommand('ebb.exportDiagram', at(name));
    return Buffer.from(await vscode.workspace.fs.readFile(at(name)));
  };
  await until('the server', async () => (await ask('DocumentSymbolProvider', vscode.window.activeTextEditor.document))?.length > 0);
  assert.match((await beginning('shop.svg')).toString('utf8'), /^<svg /);
  assert.match((await beginning('shop.mmd')).toString('utf8'), /^flowchart/);
  const png = await beginning('shop.png');
  assert.equal(png.subarray(1, 4).toString('latin1'), 'PNG');
  assert.ok(png.length > 2000, `${png.length} bytes`);
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
};

exports['the workspace is validated, also what is not open'] = async (assert) => {
  const found = () => vscode.languages.getDiagnostics(at('later.ebb.yaml'));
  assert.deepEqual(found(), []);
  await vscode.commands.executeCommand('ebb.validate');
  assert.deepEqual(found().map((one) => one.code), ['unknown_key']);
  assert.equal(found()[0].severity, vscode.DiagnosticSeverity.Error);
  const { document } = await open('later.ebb.yaml');
  assert.equal(document.getText(found()[0].range), 'timout');
  // From now on the server says it, and says it once.
  await ask('DocumentSymbolProvider', document);
  await ask('DocumentSymbolProvider', document);
  assert.deepEqual(found().map((one) => one.code?.value ?? one.code), ['unknown_key']);
};

exports['the code of a problem leads to its page'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  const settings = vscode.workspace.getConfiguration('ebb');
  assert.equal(settings.get('docs'), '');
  await settings.update('docs', 'https://docs.example.com', vscode.ConfigurationTarget.Workspace);
  const editor = vscode.window.activeTextEditor;
  const end = document.lineAt(document.lineCount - 1).range.end;
  await edit(editor, new vscode.Range(end, end), '  - stepp: last\n');
  await until('the address', () => problems(document).some((one) => String(one.code?.target).startsWith('https://docs.example.com/reference/definition.html')));
  assert.ok(problems(document).length > 0);
  await vscode.commands.executeCommand('workbench.action.files.revert');
};

exports['every setting that is described is used, with its default'] = async (assert) => {
  const settings = vscode.workspace.getConfiguration('ebb');
  assert.equal(settings.get('detect'), 'content');
  assert.equal(settings.get('diagram.direction'), 'down');
  assert.ok(settings.get('path').endsWith('/ebb'));
  assert.ok(at('order.ebb.yaml').path.endsWith('order.ebb.yaml'));
};
