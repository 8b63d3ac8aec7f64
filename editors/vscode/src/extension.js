// The extension: one language server for a window.
'use strict';

const vscode = require('vscode');
const {Client} = require('./client');

let client;
// Starts and stops are serialised.
let turn = Promise.resolve();

function restart(log) {
  turn = turn.then(async () => {
    const former = client;
    client = undefined;
    await former?.stop();
    const settings = vscode.workspace.getConfiguration('pratique');
    if (!settings.get('enable', true)) return;
    client = new Client(log);
    try {
      await client.start(settings.get('path', 'pratique'));
    } catch (error) {
      // The client reports the end of the program.
      log.appendLine(`the language server did not start: ${error.message}`);
    }
  });
  return turn;
}

async function activate(context) {
  const log = vscode.window.createOutputChannel('Pratique');
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand('pratique.restart', () => restart(log)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('pratique')) return restart(log);
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => restart(log)),
  );
  await restart(log);
}

async function deactivate() {
  turn = turn.then(async () => {
    await client?.stop();
    client = undefined;
  });
  await turn;
}

module.exports = {activate, deactivate};
