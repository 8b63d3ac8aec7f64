// The language server as a process, which is notified of open documents.
'use strict';

const {spawn} = require('node:child_process');
const vscode = require('vscode');
const {Connection} = require('./connection');
const convert = require('./convert');
const {SELECTOR, register} = require('./features');

class Client {
  /** @param log an output channel */
  constructor(log) {
    this.log = log;
    this.hints = new vscode.EventEmitter();
    this.disposables = [this.hints];
    this.ending = false;
  }

  /** Starts the program as a language server. */
  async start(program) {
    const process = spawn(program, ['lsp'], {stdio: ['pipe', 'pipe', 'pipe']});
    this.process = process;
    const ended = new Promise((resolve) => {
      process.on('error', (error) => resolve(error.message));
      process.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    this.ended = ended;
    process.stderr.on('data', (text) => this.log.append(text.toString()));
    this.diagnostics = vscode.languages.createDiagnosticCollection('pratique');
    this.disposables.push(this.diagnostics);
    this.connection = new Connection(process.stdout, process.stdin, {
      notification: (method, params) => this.notified(method, params),
      asked: (method) => this.asked(method),
      broken: (error) => {
        this.log.appendLine(error.message);
        process.kill();
      },
    });
    ended.then((how) => {
      this.connection.close();
      if (!this.ending) this.lost(program, how);
    });
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({name, uri}) => ({name, uri: uri.toString()}));
    const {capabilities} = await this.connection.request('initialize', {
      processId: globalThis.process.pid,
      rootUri: folders[0]?.uri ?? null,
      workspaceFolders: folders,
      capabilities: {
        workspace: {workspaceFolders: true, inlayHint: {refreshSupport: true}},
        textDocument: {
          publishDiagnostics: {codeDescriptionSupport: true},
          codeAction: {codeActionLiteralSupport: {codeActionKind: {valueSet: ['quickfix']}}},
        },
      },
    });
    this.connection.notify('initialized', {});
    this.disposables.push(...register(this.connection, capabilities, this.hints.event));
    this.follow();
  }

  /** Notifies the server of documents and files. */
  follow() {
    const {workspace} = vscode;
    const tell = (method, params) => this.connection.notify(method, params);
    const isOurs = (document) => vscode.languages.match(SELECTOR, document) > 0;
    const open = (document) => {
      if (!isOurs(document)) return;
      const {languageId, version} = document;
      const textDocument = {uri: document.uri.toString(), languageId, version, text: document.getText()};
      tell('textDocument/didOpen', {textDocument});
    };
    const identified = (document) => ({textDocument: {uri: document.uri.toString()}});
    this.disposables.push(
      workspace.onDidOpenTextDocument(open),
      workspace.onDidChangeTextDocument(({document, contentChanges}) => {
        if (!isOurs(document) || contentChanges.length === 0) return;
        tell('textDocument/didChange', {
          textDocument: {uri: document.uri.toString(), version: document.version},
          contentChanges: contentChanges.map(({range, text}) => ({range: convert.toRange(range), text})),
        });
      }),
      workspace.onDidSaveTextDocument((document) => {
        if (isOurs(document)) tell('textDocument/didSave', identified(document));
      }),
      workspace.onDidCloseTextDocument((document) => {
        if (isOurs(document)) tell('textDocument/didClose', identified(document));
      }),
    );
    const watcher = workspace.createFileSystemWatcher('**/*.{yaml,yml,json}');
    const changed = (type) => (uri) =>
      tell('workspace/didChangeWatchedFiles', {changes: [{uri: uri.toString(), type}]});
    this.disposables.push(
      watcher,
      watcher.onDidCreate(changed(1)),
      watcher.onDidChange(changed(2)),
      watcher.onDidDelete(changed(3)),
    );
    workspace.textDocuments.forEach(open);
  }

  notified(method, params) {
    if (method === 'textDocument/publishDiagnostics') {
      this.diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(convert.diagnostic));
    }
  }

  /** Whether the client supports a request of the server. */
  asked(method) {
    if (method !== 'workspace/inlayHint/refresh') return false;
    this.hints.fire();
    return true;
  }

  /** The server ended by itself. */
  async lost(program, how) {
    this.disposables.splice(0).forEach((disposable) => disposable.dispose());
    this.log.appendLine(`${program} lsp ended: ${how}`);
    const restart = 'Restart';
    const chosen = await vscode.window.showErrorMessage(`Pratique: ${program} lsp ended: ${how}`, restart);
    if (chosen === restart) await vscode.commands.executeCommand('pratique.restart');
  }

  /** Ends the server, which may have ended already. */
  async stop() {
    this.ending = true;
    this.disposables.splice(0).forEach((disposable) => disposable.dispose());
    if (!this.process || this.connection.closed) return;
    const slow = setTimeout(() => this.process.kill(), 2000);
    try {
      await this.connection.request('shutdown', null);
      this.connection.notify('exit', null);
    } catch {
      // The server has already ended.
    }
    await this.ended;
    clearTimeout(slow);
  }
}

module.exports = {Client};
