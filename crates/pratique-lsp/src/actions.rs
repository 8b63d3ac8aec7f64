//! Fixes of problems and warnings, as their help has them.

use std::collections::HashMap;

use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Uri, WorkspaceEdit};

use crate::diagnostics::FileFindings;
use crate::text::IndexedText;

/// The fixes for what is found within a range of a file.
#[allow(clippy::mutable_key_type, reason = "the type of the protocol's crate")]
pub(crate) fn fixes(
    findings: FileFindings<'_>,
    uri: &Uri,
    text: &IndexedText,
    within: Range,
) -> Vec<CodeActionOrCommand> {
    let file = findings.file;
    let helped = findings.with_help(text).into_iter();
    let fixes = helped.filter_map(|(diagnostic, help)| {
        let touches = diagnostic.range.start <= within.end && within.start <= diagnostic.range.end;
        let edit = help?.edit.as_ref().filter(|edit| *edit.location.file == *file)?;
        let change = TextEdit::new(text.range(&edit.location), edit.replacement.clone());
        touches.then(|| CodeAction {
            title: edit.to_string(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![diagnostic]),
            edit: Some(WorkspaceEdit::new(HashMap::from([(uri.clone(), vec![change])]))),
            is_preferred: Some(true),
            ..CodeAction::default()
        })
    });
    fixes.map(CodeActionOrCommand::from).collect()
}
