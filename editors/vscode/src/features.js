// The features of the server, as providers of VS Code.
'use strict';

const vscode = require('vscode');
const convert = require('./convert');

/** The documents that are sent to the server. */
const SELECTOR = ['yaml', 'json'].flatMap((language) =>
  ['file', 'untitled'].map((scheme) => ({language, scheme})),
);

/** Registers a provider for each capability of the server. Hints are asked for again when an event tells to. */
function register(connection, capabilities, hintsChanged) {
  const {languages} = vscode;
  const at = (document, position) => ({
    textDocument: {uri: document.uri.toString()},
    position: convert.toPosition(position),
  });
  const ask = async (method, params, token, made) => {
    const result = await connection.request(`textDocument/${method}`, params, token);
    return result === null || result === undefined ? undefined : made(result);
  };
  const providers = [];
  const offer = (capability, provider) => {
    if (capability) providers.push(provider());
  };
  offer(capabilities.hoverProvider, () =>
    languages.registerHoverProvider(SELECTOR, {
      provideHover: (document, position, token) =>
        ask('hover', at(document, position), token, convert.hover),
    }),
  );
  offer(capabilities.completionProvider, () =>
    languages.registerCompletionItemProvider(
      SELECTOR,
      {
        provideCompletionItems: (document, position, token) =>
          ask('completion', at(document, position), token, (items) => items.map(convert.completion)),
      },
      ...(capabilities.completionProvider.triggerCharacters ?? []),
    ),
  );
  offer(capabilities.definitionProvider, () =>
    languages.registerDefinitionProvider(SELECTOR, {
      provideDefinition: (document, position, token) =>
        ask('definition', at(document, position), token, convert.location),
    }),
  );
  offer(capabilities.referencesProvider, () =>
    languages.registerReferenceProvider(SELECTOR, {
      provideReferences: (document, position, context, token) =>
        ask(
          'references',
          {...at(document, position), context: {includeDeclaration: context.includeDeclaration}},
          token,
          (found) => found.map(convert.location),
        ),
    }),
  );
  offer(capabilities.renameProvider, () =>
    languages.registerRenameProvider(SELECTOR, {
      provideRenameEdits: (document, position, newName, token) =>
        ask('rename', {...at(document, position), newName}, token, convert.workspaceEdit),
    }),
  );
  offer(capabilities.documentSymbolProvider, () =>
    languages.registerDocumentSymbolProvider(SELECTOR, {
      provideDocumentSymbols: (document, token) =>
        ask('documentSymbol', {textDocument: {uri: document.uri.toString()}}, token, (found) =>
          found.map(convert.symbol),
        ),
    }),
  );
  offer(capabilities.semanticTokensProvider, () => {
    const {tokenTypes, tokenModifiers} = capabilities.semanticTokensProvider.legend;
    return languages.registerDocumentSemanticTokensProvider(
      SELECTOR,
      {
        provideDocumentSemanticTokens: (document, token) =>
          ask(
            'semanticTokens/full',
            {textDocument: {uri: document.uri.toString()}},
            token,
            (tokens) => new vscode.SemanticTokens(Uint32Array.from(tokens.data)),
          ),
      },
      new vscode.SemanticTokensLegend(tokenTypes, tokenModifiers),
    );
  });
  offer(capabilities.codeActionProvider, () =>
    languages.registerCodeActionsProvider(
      SELECTOR,
      {
        provideCodeActions: (document, range, context, token) =>
          ask(
            'codeAction',
            {
              textDocument: {uri: document.uri.toString()},
              range: convert.toRange(range),
              context: {diagnostics: context.diagnostics.map(convert.toDiagnostic)},
            },
            token,
            (actions) => actions.map(convert.codeAction),
          ),
      },
      {providedCodeActionKinds: [vscode.CodeActionKind.QuickFix]},
    ),
  );
  offer(capabilities.inlayHintProvider, () =>
    languages.registerInlayHintsProvider(SELECTOR, {
      onDidChangeInlayHints: hintsChanged,
      provideInlayHints: (document, range, token) =>
        ask(
          'inlayHint',
          {textDocument: {uri: document.uri.toString()}, range: convert.toRange(range)},
          token,
          (hints) => hints.map(convert.inlayHint),
        ),
    }),
  );
  return providers;
}

module.exports = {SELECTOR, register};
