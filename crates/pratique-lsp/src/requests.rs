//! The answers to requests.

use std::collections::HashMap;

use lsp_server::{ErrorCode, Message, Request, RequestId, Response};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, InlayHintRequest,
    References, Rename, Request as _, SemanticTokensFullRequest,
};
use lsp_types::{
    CodeActionKind, CodeActionOrCommand, CompletionResponse, DocumentSymbolResponse, GotoDefinitionResponse,
    Range, SemanticTokens, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use pratique_manifest::Location;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::analysis::ManifestAnalysis;
use crate::cursor::{self, ExpressionCursor};
use crate::definition::{PolicyVariable, bindings_of, param_kind_of, param_of, policy_of};
use crate::documents::name_of;
use crate::server::{LspError, LspServer, describe_error};
use crate::{actions, completion, hover, symbols, tokens};

/// Why a request has no result.
enum RequestFailure {
    Params(String),
    Refused(&'static str),
}

impl LspServer<'_> {
    /// Answers a request.
    pub(crate) fn answer(&mut self, request: Request) -> Result<(), LspError> {
        // Fixes are also those of lints.
        if request.method == CodeActionRequest::METHOD {
            self.lint_changed(false)?;
        }
        // These are about suites, too.
        if [InlayHintRequest::METHOD, CodeActionRequest::METHOD].contains(&request.method.as_str()) {
            self.check_suites()?;
        }
        let id = request.id.clone();
        let response = match self.result(request) {
            Ok(result) => Response::new_ok(id, result),
            Err(failure) => refused(id, &failure),
        };
        self.send(Message::Response(response))
    }

    fn result(&self, request: Request) -> Result<Value, RequestFailure> {
        match request.method.as_str() {
            HoverRequest::METHOD => {
                let params = read::<HoverRequest>(request)?.text_document_position_params;
                let hover = self.cursor(&params).and_then(|(analysis, cursor)| {
                    let text = self.documents.find_text(&params.text_document.uri)?;
                    hover::hover(analysis, cursor, self.analyzer.custom_types(), text)
                });
                json(&hover)
            }
            Completion::METHOD => {
                let params = read::<Completion>(request)?.text_document_position;
                let items = self
                    .cursor(&params)
                    .map(|(_, cursor)| completion::complete(cursor));
                json(&items.map(CompletionResponse::Array))
            }
            GotoDefinition::METHOD => {
                let params = read::<GotoDefinition>(request)?.text_document_position_params;
                let location = self
                    .definition(&params)
                    .and_then(|location| self.location(&location));
                json(&location.map(GotoDefinitionResponse::Scalar))
            }
            References::METHOD => {
                let params = read::<References>(request)?;
                let references =
                    self.references(&params.text_document_position, params.context.include_declaration);
                let locations: Vec<_> = references
                    .iter()
                    .filter_map(|location| self.location(location))
                    .collect();
                json(&locations)
            }
            Rename::METHOD => {
                let params = read::<Rename>(request)?;
                json(&self.rename(&params.text_document_position, &params.new_name)?)
            }
            DocumentSymbolRequest::METHOD => {
                let uri = read::<DocumentSymbolRequest>(request)?.text_document.uri;
                let symbols = self.of_file(&uri, symbols::of_file);
                json(&symbols.map(DocumentSymbolResponse::Nested))
            }
            CodeActionRequest::METHOD => {
                let params = read::<CodeActionRequest>(request)?;
                let is_wanted = params
                    .context
                    .only
                    .is_none_or(|kinds| kinds.contains(&CodeActionKind::QUICKFIX));
                let fixes = is_wanted.then(|| self.fixes(&params.text_document.uri, params.range));
                json(&fixes.flatten())
            }
            SemanticTokensFullRequest::METHOD => {
                let uri = read::<SemanticTokensFullRequest>(request)?.text_document.uri;
                let tokens = self.of_file(&uri, tokens::of_file);
                json(&tokens.map(|data| SemanticTokens {
                    result_id: None,
                    data,
                }))
            }
            InlayHintRequest::METHOD => {
                let params = read::<InlayHintRequest>(request)?;
                let uri = &params.text_document.uri;
                let hints = self.documents.find_text(uri);
                let hints = hints.map(|text| self.suites.hints(&name_of(uri), text));
                let is_wanted = |hint: &lsp_types::InlayHint| {
                    (params.range.start..=params.range.end).contains(&hint.position)
                };
                json(&hints.map(|hints| hints.into_iter().filter(is_wanted).collect::<Vec<_>>()))
            }
            _ => Err(RequestFailure::Refused("not supported")),
        }
    }

    /// The result of a function of a whole file.
    fn of_file<T>(
        &self,
        uri: &Uri,
        result: fn(&ManifestAnalysis, &str, &crate::text::IndexedText) -> T,
    ) -> Option<T> {
        let name = name_of(uri);
        Some(result(self.analysis(uri)?, &name, self.documents.find_text(uri)?))
    }

    fn fixes(&self, uri: &Uri, within: Range) -> Option<Vec<CodeActionOrCommand>> {
        let name = name_of(uri);
        let text = self.documents.find_text(uri)?;
        Some(actions::fixes(self.findings(uri, &name), uri, text, within))
    }

    /// The place of a request: the file, and line and column from 1.
    fn place(
        &self,
        position: &TextDocumentPositionParams,
    ) -> Option<(&ManifestAnalysis, String, (u32, u32))> {
        let uri = &position.text_document.uri;
        let name = name_of(uri);
        let place = self.documents.find_text(uri)?.line_and_column(position.position);
        Some((self.analysis(uri)?, name, place))
    }

    fn cursor(
        &self,
        position: &TextDocumentPositionParams,
    ) -> Option<(&ManifestAnalysis, ExpressionCursor<'_>)> {
        let (analysis, name, place) = self.place(position)?;
        Some((analysis, cursor::find(analysis, &name, place)?))
    }

    fn variable(&self, position: &TextDocumentPositionParams) -> Option<PolicyVariable<'_>> {
        let (analysis, name, place) = self.place(position)?;
        match cursor::find(analysis, &name, place) {
            Some(cursor) => PolicyVariable::read_at(analysis, cursor),
            None => PolicyVariable::named_at(analysis, &name, place),
        }
    }

    fn definition(&self, position: &TextDocumentPositionParams) -> Option<Location> {
        if let Some(variable) = self.variable(position) {
            return variable.definition();
        }
        if let Some((analysis, cursor)) = self.cursor(position) {
            return param_kind_of(analysis, cursor);
        }
        let (analysis, name, place) = self.place(position)?;
        policy_of(analysis, &name, place).or_else(|| {
            let param = param_of(analysis, &name, place)?;
            self.workspace.find(&param, &self.documents)
        })
    }

    fn references(&self, position: &TextDocumentPositionParams, with_definition: bool) -> Vec<Location> {
        if let Some(variable) = self.variable(position) {
            let definition = variable.definition().filter(|_| with_definition);
            return definition.into_iter().chain(variable.uses()).collect();
        }
        let place = self.place(position);
        place.map_or_else(Vec::new, |(analysis, name, place)| {
            bindings_of(analysis, &name, place)
        })
    }

    #[allow(clippy::mutable_key_type, reason = "the type of the protocol's crate")]
    fn rename(
        &self,
        position: &TextDocumentPositionParams,
        name: &str,
    ) -> Result<WorkspaceEdit, RequestFailure> {
        let variable = self.variable(position).ok_or(RequestFailure::Refused(
            "only variables of policies can be renamed",
        ))?;
        let is_name = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if !is_name || !name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic()) {
            return Err(RequestFailure::Refused(
                "this is no name that an expression can have",
            ));
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
}

fn refused(id: RequestId, failure: &RequestFailure) -> Response {
    let (code, message) = match failure {
        RequestFailure::Params(message) => (ErrorCode::InvalidParams, message.clone()),
        RequestFailure::Refused("not supported") => (ErrorCode::MethodNotFound, "not supported".to_owned()),
        RequestFailure::Refused(why) => (ErrorCode::RequestFailed, (*why).to_owned()),
    };
    Response::new_err(id, code as i32, message)
}

fn read<R: lsp_types::request::Request>(request: Request) -> Result<R::Params, RequestFailure>
where
    R::Params: DeserializeOwned,
{
    let extracted = request.extract::<R::Params>(R::METHOD);
    extracted
        .map(|(_, params)| params)
        .map_err(|error| RequestFailure::Params(describe_error(&error)))
}

fn json(result: &impl serde::Serialize) -> Result<Value, RequestFailure> {
    serde_json::to_value(result).map_err(|error| RequestFailure::Params(error.to_string()))
}
