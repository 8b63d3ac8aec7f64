// A double of VS Code: what the extension uses of it.
'use strict';

const Module = require('node:module');
const {pathToFileURL, fileURLToPath} = require('node:url');

class Event {
  #listeners = new Set();
  on = (listener) => {
    this.#listeners.add(listener);
    return {dispose: () => this.#listeners.delete(listener)};
  };
  fire(value) {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

/** An event that has an owner. */
class EventEmitter {
  #event = new Event();
  event = this.#event.on;
  fire(value) {
    this.#event.fire(value);
  }
  dispose() {}
}

class Position {
  constructor(line, character) {
    Object.assign(this, {line, character});
  }
}

class Range {
  constructor(start, end) {
    Object.assign(this, {start, end});
  }
}

class Uri {
  constructor(text) {
    this.text = text;
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(path) {
    return new Uri(pathToFileURL(path).href);
  }
  get fsPath() {
    return fileURLToPath(this.text);
  }
  toString() {
    return this.text;
  }
}

/** A class whose constructor keeps its arguments by these names. */
const record = (...names) =>
  class {
    constructor(...values) {
      names.forEach((name, at) => {
        this[name] = values[at];
      });
    }
  };

class WorkspaceEdit {
  edits = [];
  replace(uri, range, text) {
    this.edits.push({uri: uri.toString(), range, text});
  }
}

/** A window with settings. What happens in it is at `state`. */
function create(settings) {
  const state = {
    providers: {},
    diagnostics: new Map(),
    commands: {},
    errors: [],
    log: '',
    settings,
    published: new Event(),
    opened: new Event(),
    changed: new Event(),
    saved: new Event(),
    closed: new Event(),
    configured: new Event(),
    created: new Event(),
    modified: new Event(),
    deleted: new Event(),
  };
  const provider = (name) => (selector, given, ...more) => {
    state.providers[name] = {...given, more};
    return {dispose: () => delete state.providers[name]};
  };
  const vscode = {
    Position,
    Range,
    Uri,
    WorkspaceEdit,
    EventEmitter,
    InlayHint: record('position', 'label'),
    Location: record('uri', 'range'),
    Diagnostic: record('range', 'message', 'severity'),
    Hover: record('contents', 'range'),
    MarkdownString: record('value'),
    CompletionItem: record('label', 'kind'),
    DocumentSymbol: record('name', 'detail', 'kind', 'range', 'selectionRange'),
    SemanticTokens: record('data'),
    SemanticTokensLegend: record('types', 'modifiers'),
    CodeAction: record('title', 'kind'),
    CodeActionKind: {QuickFix: 'quickfix'},
    commands: {
      registerCommand: (name, run) => {
        state.commands[name] = run;
        return {dispose: () => delete state.commands[name]};
      },
      executeCommand: (name) => state.commands[name](),
    },
    window: {
      createOutputChannel: () => ({
        append: (text) => (state.log += text),
        appendLine: (text) => (state.log += `${text}\n`),
        dispose: () => {},
      }),
      showErrorMessage: async (text) => {
        state.errors.push(text);
      },
    },
    languages: {
      createDiagnosticCollection: () => ({
        set: (uri, found) => {
          state.diagnostics.set(uri.toString(), found);
          state.published.fire({uri: uri.toString(), found});
        },
        dispose: () => state.diagnostics.clear(),
      }),
      match: (selector, document) =>
        selector.some(({language}) => language === document.languageId) ? 10 : 0,
      registerHoverProvider: provider('hover'),
      registerCompletionItemProvider: provider('completion'),
      registerDefinitionProvider: provider('definition'),
      registerReferenceProvider: provider('references'),
      registerRenameProvider: provider('rename'),
      registerDocumentSymbolProvider: provider('symbols'),
      registerDocumentSemanticTokensProvider: (selector, given, legend) =>
        provider('tokens')(selector, given, legend),
      registerCodeActionsProvider: provider('actions'),
      registerInlayHintsProvider: provider('hints'),
    },
    workspace: {
      textDocuments: [],
      workspaceFolders: undefined,
      getConfiguration: (section) => ({
        get: (name, otherwise) => state.settings[`${section}.${name}`] ?? otherwise,
      }),
      onDidOpenTextDocument: state.opened.on,
      onDidChangeTextDocument: state.changed.on,
      onDidSaveTextDocument: state.saved.on,
      onDidCloseTextDocument: state.closed.on,
      onDidChangeConfiguration: state.configured.on,
      onDidGrantWorkspaceTrust: new Event().on,
      createFileSystemWatcher: () => ({
        onDidCreate: state.created.on,
        onDidChange: state.modified.on,
        onDidDelete: state.deleted.on,
        dispose: () => {},
      }),
    },
  };
  const load = Module._load;
  Module._load = (request, ...rest) => (request === 'vscode' ? vscode : load(request, ...rest));
  return {vscode, state};
}

/** A document of the window. */
function document(vscode, path, text, languageId = 'yaml') {
  const uri = vscode.Uri.file(path);
  return {uri, languageId, version: 1, getText: () => text};
}

/** Where a text stands, some characters into it. */
function positionOf(text, needle, offset = 0) {
  const before = text.slice(0, text.indexOf(needle) + offset);
  const lines = before.split('\n');
  return new Position(lines.length - 1, lines.at(-1).length);
}

module.exports = {create, document, positionOf, Range};
