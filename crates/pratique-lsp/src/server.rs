//! The messages of a client.

use std::collections::{BTreeSet, HashMap};

use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, References, Rename,
    Request as _, SemanticTokensFullRequest,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionOrCommand, CompletionOptions, CompletionResponse,
    DocumentSymbolResponse, GotoDefinitionResponse, HoverProviderCapability, OneOf, PublishDiagnosticsParams,
    Range, SemanticTokens, SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions,
    ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextEdit, Uri, WorkDoneProgressOptions, WorkspaceEdit,
};
use pratique_manifest::Location;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::analysis::{Analysis, Analyzer};
use crate::cursor::{self, Cursor};
use crate::definition::{Variable, bindings_of, policy_of};
use crate::documents::{Documents, name_of};
use crate::other_files::{self, FileKind};
use crate::{actions, completion, diagnostics, hover, symbols, tokens};

/// Why the server ended, other than by the client's request.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The client sent what the protocol does not allow.
    #[error("the client breaks the protocol: {0}")]
    Protocol(String),
    /// The client is gone without having said so.
    #[error("the connection to the client is closed")]
    Closed,
    /// Reading or writing failed.
    #[error("{0}")]
    Io(std::io::Error),
}

/// Serves a client until it ends the session.
///
/// # Errors
/// If the client breaks the protocol or goes away.
pub fn run(connection: &Connection) -> Result<(), LspError> {
    run_with(connection, &[])
}

/// Serves a client as [`run`] does, with kinds of files that the program knows.
///
/// # Errors
/// As [`run`].
pub fn run_with(connection: &Connection, kinds: &[&dyn FileKind]) -> Result<(), LspError> {
    let capabilities =
        serde_json::to_value(capabilities()).map_err(|error| LspError::Protocol(error.to_string()))?;
    let given = connection.initialize(capabilities);
    given.map_err(|error| LspError::Protocol(error.to_string()))?;
    let mut server = Server::new(connection, kinds);
    while let Ok(message) = connection.receiver.recv() {
        match message {
            Message::Request(request) => {
                let ends = connection.handle_shutdown(&request);
                if ends.map_err(|error| LspError::Protocol(error.to_string()))? {
                    return Ok(());
                }
                server.refresh()?;
                server.answer(request)?;
            }
            Message::Notification(notification) => server.notice(notification)?,
            Message::Response(_) => {}
        }
        // While more is waiting, what was changed last will be changed again.
        if connection.receiver.is_empty() {
            server.refresh()?;
        }
    }
    Err(LspError::Closed)
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned(), "?".to_owned()]),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                work_done_progress_options: WorkDoneProgressOptions::default(),
                legend: SemanticTokensLegend {
                    token_types: tokens::TYPES.to_vec(),
                    token_modifiers: Vec::new(),
                },
                range: None,
                full: Some(SemanticTokensFullOptions::Bool(true)),
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

struct Server<'c> {
    connection: &'c Connection,
    kinds: &'c [&'c dyn FileKind],
    documents: Documents,
    analyzer: Analyzer,
    /// What is known of the directory of each open document.
    known: HashMap<String, Analysis>,
    /// The documents whose directories changed.
    changed: Vec<Uri>,
    /// The files that diagnostics were published for.
    published: BTreeSet<String>,
}

/// Why a request has no result.
enum Failure {
    Params(String),
    Refused(&'static str),
}

impl<'c> Server<'c> {
    fn new(connection: &'c Connection, kinds: &'c [&'c dyn FileKind]) -> Self {
        Server {
            connection,
            kinds,
            documents: Documents::default(),
            analyzer: Analyzer::default(),
            known: HashMap::new(),
            changed: Vec::new(),
            published: BTreeSet::new(),
        }
    }

    fn notice(&mut self, notification: Notification) -> Result<(), LspError> {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let given = params::<DidOpenTextDocument>(notification)?.text_document;
                self.documents.open(given.uri.clone(), given.text);
                self.changed.push(given.uri);
            }
            DidChangeTextDocument::METHOD => {
                let given = params::<DidChangeTextDocument>(notification)?;
                if let Some(text) = self.documents.text_mut(&given.text_document.uri) {
                    given
                        .content_changes
                        .into_iter()
                        .for_each(|change| text.apply(change));
                }
                self.changed.push(given.text_document.uri);
            }
            DidSaveTextDocument::METHOD => {
                let uri = params::<DidSaveTextDocument>(notification)?.text_document.uri;
                self.documents.forget(&uri);
                self.changed.push(uri);
            }
            DidCloseTextDocument::METHOD => {
                let uri = params::<DidCloseTextDocument>(notification)?.text_document.uri;
                self.documents.close(&uri);
                self.known.remove(&name_of(&uri));
                self.changed.push(uri);
            }
            DidChangeWatchedFiles::METHOD => {
                let changes = params::<DidChangeWatchedFiles>(notification)?.changes;
                for change in changes {
                    self.documents.forget(&change.uri);
                    self.changed.push(change.uri);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks at what changed, and publishes what is wrong.
    fn refresh(&mut self) -> Result<(), LspError> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        changed.dedup();
        for uri in changed {
            let files = self.documents.beside(&uri);
            let names: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
            let mut analysis = self.analyzer.analyze(files);
            for file in self.documents.open_among(&names) {
                analysis.add(other_files::check(&file, self.kinds));
            }
            for name in &names {
                self.publish(name, &analysis)?;
            }
            let gone = name_of(&uri);
            if !names.contains(&gone) {
                self.publish(&gone, &Analysis::default())?;
            }
            self.known.insert(gone, analysis);
        }
        Ok(())
    }

    fn publish(&mut self, name: &str, analysis: &Analysis) -> Result<(), LspError> {
        let found = match diagnostics::has_any(analysis, name) {
            true => diagnostics::of_file(analysis, name, &self.documents.read(name)),
            false => Vec::new(),
        };
        let was_published = match found.is_empty() {
            true => self.published.remove(name),
            false => !self.published.insert(name.to_owned()),
        };
        if found.is_empty() && !was_published {
            return Ok(());
        }
        let Some(uri) = self.documents.uri(name) else {
            return Ok(());
        };
        let params = PublishDiagnosticsParams::new(uri, found, None);
        let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
        self.send(notification.into())
    }

    fn answer(&mut self, request: Request) -> Result<(), LspError> {
        let id = request.id.clone();
        let response = match self.result(request) {
            Ok(result) => Response::new_ok(id, result),
            Err(failure) => refused(id, &failure),
        };
        self.send(response.into())
    }

    fn result(&self, request: Request) -> Result<Value, Failure> {
        match request.method.as_str() {
            HoverRequest::METHOD => {
                let given = read::<HoverRequest>(request)?.text_document_position_params;
                let hover = self.cursor(&given).and_then(|(analysis, cursor)| {
                    hover::hover(analysis, cursor, self.documents.text(&given.text_document.uri)?)
                });
                json(&hover)
            }
            Completion::METHOD => {
                let given = read::<Completion>(request)?.text_document_position;
                let items = self
                    .cursor(&given)
                    .map(|(_, cursor)| completion::complete(cursor));
                json(&items.map(CompletionResponse::Array))
            }
            GotoDefinition::METHOD => {
                let given = read::<GotoDefinition>(request)?.text_document_position_params;
                let found = self
                    .definition(&given)
                    .and_then(|location| self.location(&location));
                json(&found.map(GotoDefinitionResponse::Scalar))
            }
            References::METHOD => {
                let given = read::<References>(request)?;
                let found = self.references(&given.text_document_position, given.context.include_declaration);
                let found: Vec<_> = found
                    .iter()
                    .filter_map(|location| self.location(location))
                    .collect();
                json(&found)
            }
            Rename::METHOD => {
                let given = read::<Rename>(request)?;
                json(&self.rename(&given.text_document_position, &given.new_name)?)
            }
            DocumentSymbolRequest::METHOD => {
                let uri = read::<DocumentSymbolRequest>(request)?.text_document.uri;
                let found = self.of_file(&uri, symbols::of_file);
                json(&found.map(DocumentSymbolResponse::Nested))
            }
            CodeActionRequest::METHOD => {
                let given = read::<CodeActionRequest>(request)?;
                let is_wanted = given
                    .context
                    .only
                    .is_none_or(|kinds| kinds.contains(&CodeActionKind::QUICKFIX));
                let found = is_wanted.then(|| self.fixes(&given.text_document.uri, given.range));
                json(&found.flatten())
            }
            SemanticTokensFullRequest::METHOD => {
                let uri = read::<SemanticTokensFullRequest>(request)?.text_document.uri;
                let found = self.of_file(&uri, tokens::of_file);
                json(&found.map(|data| SemanticTokens {
                    result_id: None,
                    data,
                }))
            }
            _ => Err(Failure::Refused("not supported")),
        }
    }

    /// What is told of a whole file.
    fn of_file<T>(&self, uri: &Uri, told: fn(&Analysis, &str, &crate::text::Text) -> T) -> Option<T> {
        let name = name_of(uri);
        Some(told(self.known.get(&name)?, &name, self.documents.text(uri)?))
    }

    fn fixes(&self, uri: &Uri, within: Range) -> Option<Vec<CodeActionOrCommand>> {
        let name = name_of(uri);
        let (analysis, text) = (self.known.get(&name)?, self.documents.text(uri)?);
        Some(actions::fixes(analysis, &name, uri, text, within))
    }

    /// The place of a request: the file, and line and column from 1.
    fn place(&self, given: &TextDocumentPositionParams) -> Option<(&Analysis, String, (u32, u32))> {
        let uri = &given.text_document.uri;
        let name = name_of(uri);
        let place = self.documents.text(uri)?.line_and_column(given.position);
        Some((self.known.get(&name)?, name, place))
    }

    fn cursor(&self, given: &TextDocumentPositionParams) -> Option<(&Analysis, Cursor<'_>)> {
        let (analysis, name, place) = self.place(given)?;
        Some((analysis, cursor::find(analysis, &name, place)?))
    }

    fn variable(&self, given: &TextDocumentPositionParams) -> Option<Variable<'_>> {
        let (analysis, name, place) = self.place(given)?;
        match cursor::find(analysis, &name, place) {
            Some(cursor) => Variable::read_at(analysis, cursor),
            None => Variable::named_at(analysis, &name, place),
        }
    }

    fn definition(&self, given: &TextDocumentPositionParams) -> Option<Location> {
        if let Some(variable) = self.variable(given) {
            return variable.definition();
        }
        let (analysis, name, place) = self.place(given)?;
        policy_of(analysis, &name, place)
    }

    fn references(&self, given: &TextDocumentPositionParams, with_definition: bool) -> Vec<Location> {
        if let Some(variable) = self.variable(given) {
            let definition = variable.definition().filter(|_| with_definition);
            return definition.into_iter().chain(variable.uses()).collect();
        }
        let place = self.place(given);
        place.map_or_else(Vec::new, |(analysis, name, place)| {
            bindings_of(analysis, &name, place)
        })
    }

    #[allow(clippy::mutable_key_type, reason = "the type of the protocol's crate")]
    fn rename(&self, given: &TextDocumentPositionParams, name: &str) -> Result<WorkspaceEdit, Failure> {
        let variable = self
            .variable(given)
            .ok_or(Failure::Refused("only variables of policies can be renamed"))?;
        let is_name = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if !is_name || !name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic()) {
            return Err(Failure::Refused("this is no name that an expression can have"));
        }
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for location in variable.definition().into_iter().chain(variable.uses()) {
            if let Some(place) = self.location(&location) {
                let edit = TextEdit::new(place.range, name.to_owned());
                changes.entry(place.uri).or_default().push(edit);
            }
        }
        Ok(WorkspaceEdit::new(changes))
    }

    fn location(&self, location: &Location) -> Option<lsp_types::Location> {
        let text = self.documents.read(&location.file);
        let uri = self.documents.uri(&location.file)?;
        Some(lsp_types::Location::new(uri, text.range(location)))
    }

    fn send(&self, message: Message) -> Result<(), LspError> {
        self.connection.sender.send(message).map_err(|_| LspError::Closed)
    }
}

fn refused(id: RequestId, failure: &Failure) -> Response {
    let (code, message) = match failure {
        Failure::Params(message) => (ErrorCode::InvalidParams, message.clone()),
        Failure::Refused("not supported") => (ErrorCode::MethodNotFound, "not supported".to_owned()),
        Failure::Refused(why) => (ErrorCode::RequestFailed, (*why).to_owned()),
    };
    Response::new_err(id, code as i32, message)
}

fn params<N: lsp_types::notification::Notification>(notification: Notification) -> Result<N::Params, LspError>
where
    N::Params: DeserializeOwned,
{
    notification
        .extract(N::METHOD)
        .map_err(|error| LspError::Protocol(shown(&error)))
}

fn read<R: lsp_types::request::Request>(request: Request) -> Result<R::Params, Failure>
where
    R::Params: DeserializeOwned,
{
    let extracted = request.extract::<R::Params>(R::METHOD);
    extracted
        .map(|(_, params)| params)
        .map_err(|error| Failure::Params(shown(&error)))
}

fn shown<T>(error: &ExtractError<T>) -> String {
    match error {
        ExtractError::MethodMismatch(_) => "another method".to_owned(),
        ExtractError::JsonError { error, .. } => error.to_string(),
    }
}

fn json(result: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(result).map_err(|error| Failure::Params(error.to_string()))
}
