//! Where YAML 1.1, as the server reads it, and the parser's YAML 1.2 part ways.

use std::borrow::Cow;

use super::SyntaxError;
use super::diagnosis::{Stage, at};
use crate::position::Span;
use crate::tree::Style;

/// The server reads documents of version 1.1, and those that name none.
pub(super) fn check_version<N: Into<u64>>(version: Option<(N, N)>, span: Span) -> Result<(), SyntaxError> {
    match version.map(|(major, minor)| (major.into(), minor.into())) {
        None | Some((1, 1)) => Ok(()),
        Some(_) => Err(SyntaxError::new("yaml: found incompatible YAML document", span)),
    }
}

/// NEL ends a line in YAML 1.1.
pub(super) fn line_ends(text: String) -> String {
    if text.contains('\u{85}') {
        text.replace('\u{85}', "\n")
    } else {
        text
    }
}

/// What stands before the blanks between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// A plain scalar, whose continuation lines would be indented at least this far.
    Plain {
        indent: usize,
    },
    /// A block scalar, which has the blanks after it to itself.
    Block,
    Other,
}

/// Outside of brackets, no line begins with a tab: not even one of blanks, or of a comment.
pub(super) fn check_gap(text: &str, start: usize, end: usize, before: Before) -> Result<(), SyntaxError> {
    let gap = text.get(start..end).unwrap_or_default();
    let mut in_scalar = matches!(before, Before::Plain { .. });
    let mut offset = start;
    for (number, line) in gap.split_inclusive('\n').enumerate() {
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        let has_tab = number > 0 && content.starts_with('\t');
        match before {
            Before::Block => {}
            Before::Plain { indent } if has_tab && in_scalar && column < indent => {
                return Err(at(
                    text,
                    offset,
                    Stage::Scanner,
                    "found a tab character that violates indentation",
                ));
            }
            _ if has_tab && !in_scalar => {
                return Err(at(
                    text,
                    offset,
                    Stage::Scanner,
                    "found character that cannot start any token",
                ));
            }
            _ => {}
        }
        in_scalar &= line.trim().is_empty();
        offset += line.len();
    }
    Ok(())
}

/// The name of an anchor or an alias is of letters, digits, dashes and underscores. `span` has its mark, too.
pub(super) fn check_name(text: &str, span: Span) -> Result<(), SyntaxError> {
    let start = span.start as usize;
    let name = text.get(start + 1..span.end as usize).unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let next = text.get(span.end as usize..).and_then(|rest| rest.chars().next());
    if next.is_some_and(|c| !c.is_whitespace() && !matches!(c, '?' | ':' | ',' | ']' | '}' | '%' | '@' | '`'))
    {
        return Err(at(
            text,
            start,
            Stage::Scanner,
            "did not find expected alphabetic or numeric character",
        ));
    }
    match name
        .find(|c| !is_word(c))
        .map(|at| (at, name.get(at..).unwrap_or_default()))
    {
        None => Ok(()),
        Some((word, rest)) if word > 0 && rest.starts_with(':') => Err(at(
            text,
            start,
            Stage::Scanner,
            "mapping values are not allowed in this context",
        )),
        Some(_) => Err(at(
            text,
            start,
            Stage::Scanner,
            "did not find expected alphabetic or numeric character",
        )),
    }
}

/// A scalar's value as YAML 1.1 has it.
pub(super) fn scalar<'text>(
    text: &str,
    value: Cow<'text, str>,
    style: Style,
    span: Span,
) -> Result<Cow<'text, str>, SyntaxError> {
    let raw = text
        .get(span.start as usize..span.end as usize)
        .unwrap_or_default();
    match style {
        // A value that is not there at all comes as `~`, which nobody wrote.
        Style::Plain if raw.is_empty() => Ok(Cow::Borrowed("")),
        Style::DoubleQuoted if raw.contains('\\') => check_escapes(text, raw, span).map(|()| value),
        Style::Literal | Style::Folded => Ok(without_added_break(text, value)),
        _ => Ok(value),
    }
}

/// A slash needs no escape and may have none, and characters beyond 16 bits are not written as two.
fn check_escapes(text: &str, raw: &str, span: Span) -> Result<(), SyntaxError> {
    let mut rest = raw;
    while let Some(found) = rest.find('\\') {
        let escape = rest.get(found..).unwrap_or_default();
        let offset = span.start as usize + raw.len() - escape.len();
        let code = escape.chars().nth(1).unwrap_or_default();
        let half = code == 'u'
            && matches!(
                escape.as_bytes(),
                [_, _, b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]
            );
        if half {
            return Err(at(
                text,
                offset,
                Stage::Scanner,
                "found invalid Unicode character escape code",
            ));
        }
        if code == '/' {
            return Err(at(text, offset, Stage::Scanner, "found unknown escape character"));
        }
        rest = escape.get(1 + code.len_utf8()..).unwrap_or_default();
    }
    Ok(())
}

/// A block scalar whose last line has no end has none in its value either.
fn without_added_break<'text>(text: &str, value: Cow<'text, str>) -> Cow<'text, str> {
    let last_line = text.rsplit('\n').next().unwrap_or_default().trim();
    let is_last = !last_line.is_empty()
        && value
            .strip_suffix('\n')
            .is_some_and(|value| value.ends_with(last_line));
    if !is_last {
        return value;
    }
    match value {
        Cow::Borrowed(value) => Cow::Borrowed(value.strip_suffix('\n').unwrap_or(value)),
        Cow::Owned(mut value) => {
            value.pop();
            Cow::Owned(value)
        }
    }
}
