// Values of the protocol as those of VS Code, and back. Both count from 0, in UTF-16.
'use strict';

const vscode = require('vscode');

const position = ({line, character}) => new vscode.Position(line, character);
const range = ({start, end}) => new vscode.Range(position(start), position(end));
const location = (given) => new vscode.Location(vscode.Uri.parse(given.uri), range(given.range));

function diagnostic(given) {
  const made = new vscode.Diagnostic(range(given.range), given.message, (given.severity ?? 1) - 1);
  made.source = given.source;
  made.code = given.codeDescription
    ? {value: given.code, target: vscode.Uri.parse(given.codeDescription.href)}
    : given.code;
  return made;
}

function hover(given) {
  const contents = new vscode.MarkdownString(given.contents.value);
  return new vscode.Hover(contents, given.range && range(given.range));
}

function completion(given) {
  // Kinds begin with 1 in the protocol.
  const kind = given.kind === undefined ? undefined : given.kind - 1;
  const made = new vscode.CompletionItem(given.label, kind);
  made.detail = given.detail;
  made.insertText = given.insertText;
  made.sortText = given.sortText;
  made.filterText = given.filterText;
  const documentation = given.documentation;
  if (documentation) made.documentation = new vscode.MarkdownString(documentation.value ?? documentation);
  return made;
}

function symbol(given) {
  const made = new vscode.DocumentSymbol(
    given.name,
    given.detail ?? '',
    given.kind - 1,
    range(given.range),
    range(given.selectionRange),
  );
  made.children = (given.children ?? []).map(symbol);
  return made;
}

function workspaceEdit(given) {
  const made = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(given.changes ?? {})) {
    for (const edit of edits) made.replace(vscode.Uri.parse(uri), range(edit.range), edit.newText);
  }
  return made;
}

function codeAction(given) {
  const made = new vscode.CodeAction(given.title, vscode.CodeActionKind.QuickFix);
  made.diagnostics = given.diagnostics?.map(diagnostic);
  made.isPreferred = given.isPreferred;
  if (given.edit) made.edit = workspaceEdit(given.edit);
  return made;
}

function inlayHint(given) {
  const made = new vscode.InlayHint(position(given.position), given.label);
  made.tooltip = given.tooltip;
  made.paddingLeft = given.paddingLeft;
  return made;
}

/** A range in the form of the protocol. */
function toRange({start, end}) {
  return {start: toPosition(start), end: toPosition(end)};
}

function toPosition({line, character}) {
  return {line, character};
}

/** A diagnostic in the form of the protocol, so that the server can identify it. */
function toDiagnostic(given) {
  const code = given.code?.value ?? given.code;
  return {
    range: toRange(given.range),
    message: given.message,
    severity: given.severity + 1,
    code,
    source: given.source,
  };
}

module.exports = {
  codeAction,
  completion,
  diagnostic,
  hover,
  inlayHint,
  location,
  range,
  symbol,
  toDiagnostic,
  toPosition,
  toRange,
  workspaceEdit,
};
