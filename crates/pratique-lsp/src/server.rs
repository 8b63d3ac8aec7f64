//! One session: the messages of a client, and what is published to it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use lsp_server::{Connection, ExtractError, Message, Notification, Request};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{InlayHintRefreshRequest, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CompletionOptions, HoverProviderCapability, InitializeParams, OneOf,
    PublishDiagnosticsParams, SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions,
    ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, Uri, WorkDoneProgressOptions,
};
use pratique::FeatureGates;
use pratique_foreign::READER;
use pratique_lint::LintInterruption;
use pratique_manifest::ManifestFile;
use pratique_suite::SuiteGates;
use serde::de::DeserializeOwned;

use crate::analysis::{ManifestAnalysis, ManifestAnalyzer};
use crate::diagnostics::FileFindings;
use crate::documents::{OpenDocuments, directory_of, name_of, path_of};
use crate::lint_round::DueLints;
use crate::other_files::{FileKind, Findings};
use crate::plain_objects::ObjectReviewer;
use crate::suites::SuiteFiles;
use crate::tokens;
use crate::workspace::WorkspaceFiles;

/// Why the server ended, other than by the client's request.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The client sent what the protocol does not allow.
    #[error("the client breaks the protocol: {0}")]
    Protocol(String),
    /// The client closed the connection without a shutdown request.
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
    run_with(connection, &[], FeatureGates::default(), "")
}

/// Serves a client as [`run`] does, with kinds of files that the program knows, for a server of a release with some feature gates.
/// `written_gates` are those as `--feature-gates` has them, for the servers of tests that name another release.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    connection: &Connection,
    kinds: &[&dyn FileKind],
    gates: FeatureGates,
    written_gates: &str,
) -> Result<(), LspError> {
    let capabilities = serde_json::to_value(capabilities()).map_err(protocol)?;
    let params = connection.initialize(capabilities).map_err(protocol)?;
    let params = serde_json::from_value(params).map_err(protocol)?;
    let mut server = LspServer::new(connection, kinds, (gates, written_gates), &params);
    while let Ok(message) = connection.receiver.recv() {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(protocol)? {
                    return Ok(());
                }
                server.refresh()?;
                server.answer(request)?;
            }
            Message::Notification(notification) => server.notify(notification)?,
            Message::Response(_) => {}
        }
        // While more messages wait, the last change may be changed again.
        if connection.receiver.is_empty() {
            server.refresh()?;
        }
        if connection.receiver.is_empty() {
            server.lint_changed(true)?;
        }
        // Suites take longer than what they test.
        if connection.receiver.is_empty() {
            server.check_suites()?;
        }
    }
    Err(LspError::Closed)
}

fn protocol(error: impl ToString) -> LspError {
    LspError::Protocol(error.to_string())
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
        inlay_hint_provider: Some(OneOf::Left(true)),
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

pub(crate) struct LspServer<'c> {
    connection: &'c Connection,
    kinds: &'c [&'c dyn FileKind],
    pub(crate) documents: OpenDocuments,
    pub(crate) workspace: WorkspaceFiles,
    pub(crate) analyzer: ManifestAnalyzer,
    pub(crate) suites: SuiteFiles,
    plain_objects: ObjectReviewer,
    /// The analyses of the directories of open documents.
    pub(crate) analyses: HashMap<String, ManifestAnalysis>,
    /// The lints that have not run since something changed.
    pub(crate) due_lints: DueLints,
    /// The findings in open documents other than those of policies.
    other_findings: HashMap<String, Findings>,
    /// The documents whose directories changed.
    changed: Vec<Uri>,
    /// Whether what suites depend on may have changed.
    are_suites_due: bool,
    /// The files that diagnostics were published for.
    published: BTreeSet<String>,
    /// Whether the client supports `workspace/inlayHint/refresh`.
    refreshes_hints: bool,
    /// The number of requests that were sent to the client.
    requests: i32,
}

impl<'c> LspServer<'c> {
    fn new(
        connection: &'c Connection,
        kinds: &'c [&'c dyn FileKind],
        (gates, written_gates): (FeatureGates, &str),
        initialize: &InitializeParams,
    ) -> Self {
        let workspace = initialize.capabilities.workspace.as_ref();
        let hints = workspace.and_then(|workspace| workspace.inlay_hint.as_ref());
        let receiver = connection.receiver.clone();
        let interruption = LintInterruption::new(move || !receiver.is_empty());
        LspServer {
            connection,
            kinds,
            documents: OpenDocuments::default(),
            workspace: WorkspaceFiles::new(gates.release(), initialize),
            analyzer: ManifestAnalyzer::new(gates, interruption),
            suites: SuiteFiles::new(SuiteGates::new(gates.release(), written_gates)),
            plain_objects: ObjectReviewer::new(gates),
            analyses: HashMap::new(),
            due_lints: DueLints::default(),
            other_findings: HashMap::new(),
            changed: Vec::new(),
            are_suites_due: false,
            published: BTreeSet::new(),
            refreshes_hints: hints.and_then(|hints| hints.refresh_support) == Some(true),
            requests: 0,
        }
    }

    /// Handles a notification.
    fn notify(&mut self, notification: Notification) -> Result<(), LspError> {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let document = params::<DidOpenTextDocument>(notification)?.text_document;
                self.documents.open(document.uri.clone(), document.text);
                self.suites.run(&name_of(&document.uri));
                self.changed.push(document.uri);
            }
            DidChangeTextDocument::METHOD => {
                let params = params::<DidChangeTextDocument>(notification)?;
                if let Some(text) = self.documents.text_mut(&params.text_document.uri) {
                    let changes = params.content_changes.into_iter();
                    changes.for_each(|change| text.apply(change));
                }
                self.changed.push(params.text_document.uri);
            }
            DidSaveTextDocument::METHOD => {
                let uri = params::<DidSaveTextDocument>(notification)?.text_document.uri;
                self.touched(uri);
            }
            DidCloseTextDocument::METHOD => {
                let uri = params::<DidCloseTextDocument>(notification)?.text_document.uri;
                let name = name_of(&uri);
                self.documents.close(&uri);
                self.suites.close(&name);
                self.other_findings.remove(&name);
                self.plain_objects.forget(&name);
                self.touched(uri);
            }
            DidChangeWatchedFiles::METHOD => {
                let changes = params::<DidChangeWatchedFiles>(notification)?.changes;
                changes.into_iter().for_each(|change| self.touched(change.uri));
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a file again, and has suites run, which may depend on it.
    fn touched(&mut self, uri: Uri) {
        self.documents.forget(&uri);
        for file in self.documents.uris() {
            self.suites.run(&name_of(file));
        }
        self.changed.push(uri);
    }

    /// Analyzes what changed, and publishes the problems. The findings of lints are published by `lint_changed`.
    fn refresh(&mut self) -> Result<(), LspError> {
        let mut changed = std::mem::take(&mut self.changed);
        self.are_suites_due |= !changed.is_empty();
        for uri in &changed {
            if let Some(path) = path_of(uri) {
                self.update_definitions(uri, &path);
            }
        }
        if !changed.is_empty()
            && let Some(types) = self.workspace.changed_types(&self.documents)
        {
            self.analyzer.set_custom_types(types);
            changed.extend(self.documents.uris().cloned());
        }
        let by_directory: BTreeMap<String, Uri> = changed
            .iter()
            .map(|uri| (directory_of(uri), uri.clone()))
            .collect();
        for (directory, uri) in by_directory {
            let files = self.documents.of_directory(&uri);
            let names: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
            let analysis = self.analyzer.analyze(files);
            self.analyses.insert(directory.clone(), analysis);
            for file in self.documents.to_files() {
                if names.contains(&file.path) {
                    self.check_other_kinds(file);
                }
            }
            // The findings of suites are published by `check_suites`.
            for name in names {
                if self.suites.has(&name) {
                    continue;
                }
                // What has problems is not linted. All else waits for the lints, whose findings would vanish until then.
                let is_published = self.findings_in(&name).is_some_and(FileFindings::has_problems);
                if is_published {
                    self.publish(&name)?;
                }
                self.due_lints.add(&directory, name, is_published);
            }
        }
        for uri in changed
            .iter()
            .filter(|uri| self.documents.find_text(uri).is_none())
        {
            self.due_lints.add(&directory_of(uri), name_of(uri), false);
        }
        let open: BTreeSet<String> = self.documents.uris().map(directory_of).collect();
        let analyzed = self
            .analyses
            .keys()
            .filter(|directory| !open.contains(*directory));
        let closed: Vec<String> = analyzed.cloned().collect();
        // Their analyses go, and what lints find in them is said before.
        for directory in closed {
            self.lint_directory(&directory, false)?;
            self.analyses.remove(&directory);
        }
        Ok(())
    }

    /// Looks for what is no policy in a file.
    fn check_other_kinds(&mut self, file: ManifestFile) {
        let mut kinds = self.kinds.iter();
        let of_kind = kinds.find_map(|kind| kind.check_file(&file));
        match of_kind.or_else(|| self.plain_objects.check_file(&file)) {
            Some(findings) => {
                let findings = findings.located_in(&file.path);
                self.other_findings.insert(file.path, findings);
            }
            // Those of suites are found later.
            None if self.suites.has(&file.path) => {}
            None => drop(self.other_findings.remove(&file.path)),
        }
    }

    /// Updates the definitions of a file that changed.
    fn update_definitions(&mut self, uri: &Uri, path: &Path) {
        match self.documents.find_text(uri) {
            Some(text) => self.workspace.update(path, Some(text.content().as_bytes())),
            None => {
                let content = self.documents.on_disk(path);
                self.workspace.update(path, content.as_deref());
            }
        }
    }

    /// Checks the suites that are open, and runs those that are due.
    pub(crate) fn check_suites(&mut self) -> Result<(), LspError> {
        if !std::mem::take(&mut self.are_suites_due) {
            return Ok(());
        }
        let roots = self.workspace.roots(&self.documents);
        let mut have_run = false;
        for file in self.documents.to_files() {
            let is_candidate = READER.may_be_suite(&file.content) || self.suites.has(&file.path);
            if !is_candidate || self.kinds.iter().any(|kind| kind.check_file(&file).is_some()) {
                continue;
            }
            let Some(checked) = self.suites.check_suite(&file, &roots) else {
                continue;
            };
            have_run |= checked.have_run;
            let findings = Findings {
                problems: checked.problems,
                ..Findings::default()
            };
            self.other_findings
                .insert(file.path.clone(), findings.located_in(&file.path));
            self.publish(&file.path)?;
        }
        if have_run && self.refreshes_hints {
            self.requests += 1;
            let method = InlayHintRefreshRequest::METHOD.to_owned();
            let id = format!("pratique-{}", self.requests).into();
            self.send(Request::new(id, method, serde_json::Value::Null).into())?;
        }
        Ok(())
    }

    /// The analysis of the directory of a document.
    pub(crate) fn analysis(&self, uri: &Uri) -> Option<&ManifestAnalysis> {
        self.analyses.get(&directory_of(uri))
    }

    /// The findings in a file.
    pub(crate) fn findings<'s>(&'s self, uri: &Uri, name: &'s str) -> FileFindings<'s> {
        FileFindings {
            analysis: self.analysis(uri),
            other_findings: self.other_findings.get(name),
            file: name,
        }
    }

    /// The findings in a file of a name.
    pub(crate) fn findings_in<'s>(&'s self, name: &'s str) -> Option<FileFindings<'s>> {
        let uri = self.documents.uri(name)?;
        Some(self.findings(&uri, name))
    }

    /// Publishes the diagnostics of a file, unless it has none and had none.
    pub(crate) fn publish(&mut self, name: &str) -> Result<(), LspError> {
        let Some(uri) = self.documents.uri(name) else {
            return Ok(());
        };
        let findings = self.findings(&uri, name);
        let diagnostics = if findings.is_empty() {
            Vec::new()
        } else {
            findings.diagnostics(&self.documents.read(name))
        };
        let was_published = if diagnostics.is_empty() {
            self.published.remove(name)
        } else {
            !self.published.insert(name.to_owned())
        };
        if diagnostics.is_empty() && !was_published {
            return Ok(());
        }
        let params = PublishDiagnosticsParams::new(uri, diagnostics, None);
        let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
        self.send(notification.into())
    }

    pub(crate) fn send(&self, message: Message) -> Result<(), LspError> {
        self.connection.sender.send(message).map_err(|_| LspError::Closed)
    }
}

fn params<N: lsp_types::notification::Notification>(notification: Notification) -> Result<N::Params, LspError>
where
    N::Params: DeserializeOwned,
{
    notification
        .extract(N::METHOD)
        .map_err(|error| LspError::Protocol(describe_error(&error)))
}

pub(crate) fn describe_error<T>(error: &ExtractError<T>) -> String {
    match error {
        ExtractError::MethodMismatch(_) => "another method".to_owned(),
        ExtractError::JsonError { error, .. } => error.to_string(),
    }
}
