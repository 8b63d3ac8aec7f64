//! Text of expressions that a comment swallows.
//!
//! YAML joins the lines of folded, plain and quoted scalars. A comment of an expression then ends with the whole
//! scalar rather than with its line, and the lines after it are not part of the expression.

use std::ops::Range;

use crate::parse::source::ObjectSource;
use crate::tree::{PathStep, StringStyle, TreeValue};

/// A comment that goes on beyond the line of the source that it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwallowedText {
    /// The bytes of the decoded text that are the comment.
    pub comment: Range<usize>,
    /// Those of them that stand on later lines of the source, from the first one that does not begin with `//` itself.
    pub lost: Range<usize>,
    /// Where lines of the source begin in the comment.
    lines: Vec<usize>,
}

impl SwallowedText {
    /// All in an expression, which is a string field.
    #[must_use]
    pub fn find_all(source: &ObjectSource, path: &[PathStep]) -> Vec<Self> {
        let tree = source.tree();
        let node = tree.find(source.root(), path).map(|id| tree.get(id));
        let Some(TreeValue::String(text, _)) = node.map(|node| &node.value) else {
            return Vec::new();
        };
        if !text.contains("//") {
            return Vec::new();
        }
        let starts = source.line_starts(path);
        let swallowed = |comment: Range<usize>| {
            let is_within = |start: &usize| (comment.start + 1..comment.end).contains(start);
            let lines: Vec<usize> = starts.iter().copied().filter(is_within).collect();
            let is_lost = |start: &usize| text.get(*start..).is_some_and(|rest| !rest.starts_with("//"));
            let first = lines.iter().copied().find(is_lost)?;
            let lost = text.get(first..comment.end)?.trim_end();
            Some(SwallowedText {
                lost: first..first + lost.len(),
                comment,
                lines,
            })
        };
        pratique_cel::comments(text)
            .into_iter()
            .filter_map(swallowed)
            .collect()
    }

    /// The expression if its comments ended with their lines of the source.
    #[must_use]
    pub fn unfold(text: &str, swallowed: &[SwallowedText]) -> String {
        let mut unfolded = String::with_capacity(text.len() + swallowed.len());
        let mut at = 0;
        for start in swallowed.iter().flat_map(|comment| &comment.lines) {
            unfolded.push_str(text.get(at..*start).unwrap_or_default());
            unfolded.push('\n');
            at = *start;
        }
        unfolded.push_str(text.get(at..).unwrap_or_default());
        unfolded
    }
}

/// How to keep a comment from swallowing the text after it.
pub const LITERAL_BLOCK: &str =
    "keep the lines apart, as in a literal block (expression: |), or remove the comment";

/// Help for an expression that does not compile since a part of it is not read.
pub(crate) fn help_for_lost_text(source: &ObjectSource, path: &[PathStep]) -> Option<String> {
    if let Some(swallowed) = SwallowedText::find_all(source, path).first() {
        let line = |offset| source.locate_in(path, offset).start.line;
        let (comment, lost) = (line(swallowed.comment.start), line(swallowed.lost.start));
        return Some(format!(
            "YAML joins the lines of this text, and the comment of line {comment} swallows line {lost}: {LITERAL_BLOCK}"
        ));
    }
    is_cut_by_comment(source, path)
        .then(|| "YAML reads \" #\" and what follows it as a comment: quote the expression".to_owned())
}

/// Whether a plain scalar ends where a comment of YAML begins.
fn is_cut_by_comment(source: &ObjectSource, path: &[PathStep]) -> bool {
    let tree = source.tree();
    let Some(node) = tree.find(source.root(), path).map(|id| tree.get(id)) else {
        return false;
    };
    let rest = source.document().as_str().get(node.span.end as usize..);
    let rest = rest.and_then(|rest| rest.lines().next()).unwrap_or_default();
    !source.is_json()
        && matches!(&node.value, TreeValue::String(_, StringStyle::Plain))
        && rest.starts_with([' ', '\t'])
        && rest.trim_start().starts_with('#')
}
