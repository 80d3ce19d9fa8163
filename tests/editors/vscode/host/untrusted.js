// In a workspace that is not trusted the extension is active and starts nothing.
const vscode = require('vscode');
const { open, problems } = require('./tools');

exports['the extension is active without commands that need a program'] = async (assert) => {
  const { document } = await open('order.ebb.yaml');
  assert.equal(vscode.workspace.isTrusted, false);
  assert.equal(document.languageId, 'ebb');
  await vscode.extensions.getExtension('ebb.ebb').activate();
  const commands = await vscode.commands.getCommands(true);
  assert.ok(commands.includes('ebb.newWorkflow'));
  for (const name of ['ebb.restartServer', 'ebb.run', 'ebb.refreshInstances']) assert.ok(!commands.includes(name), name);
  assert.deepEqual(problems(document), []);
};
