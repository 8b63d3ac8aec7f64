//! The expression that a place in a document is in.

use pratique_lint::TypedExpression;

use crate::analysis::{ManifestAnalysis, contains};

/// A place in an expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpressionCursor<'a> {
    pub(crate) expression: &'a TypedExpression,
    /// The byte of the expression's text.
    pub(crate) offset: usize,
}

/// The expression at a line and column, both from 1.
pub(crate) fn find<'a>(
    analysis: &'a ManifestAnalysis,
    file: &str,
    place: (u32, u32),
) -> Option<ExpressionCursor<'a>> {
    let here = analysis.expressions.iter().find(|expression| {
        let location = expression.source.locate(&expression.path);
        *location.file == *file && contains(&location, place)
    })?;
    let text = &here.text;
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    // Places in a text grow with its bytes, however it is quoted.
    let after = starts.partition_point(|at| {
        let start = here.location(*at..at + 1).start;
        (start.line, start.column) < place
    });
    Some(ExpressionCursor {
        expression: here,
        offset: starts.get(after).copied().unwrap_or(text.len()),
    })
}
