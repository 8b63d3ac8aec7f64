//! Everything that is wrong with manifests or inputs: for people, and for programs.

use pratique_manifest::{LoadErrors, Location, ObjectName, Position, Problem};
use serde::Serialize;

use super::excerpt::Texts;
use crate::style::{Style, Tone};

/// The longest message that people get to see whole, in bytes: a server quotes documents in its messages.
const LONGEST: usize = 16 << 10;

/// Tells all problems, the server's message first.
pub(crate) fn human(errors: &LoadErrors, texts: &mut Texts, style: Style) -> String {
    let mut out = format!(
        "{} {}\n",
        style.paint(Tone::Bad, "error:"),
        shortened(&errors.to_string())
    );
    for problem in errors.problems() {
        out.push('\n');
        out.push_str(&one(problem, texts, style));
    }
    let count = errors.problems().count();
    let plural = if count == 1 { "" } else { "s" };
    out.push_str(&format!("\n{count} problem{plural}\n"));
    out
}

/// Tells a problem, with the line that it is on.
pub(crate) fn one(problem: &Problem, texts: &mut Texts, style: Style) -> String {
    let rule = style.paint(Tone::Faint, &format!("[{}]", problem.rule.name()));
    let message = shortened(&problem.message);
    let Some(location) = &problem.location else {
        return format!("{message} {rule}\n");
    };
    let place = style.paint(Tone::Place, &place(location));
    let mut out = format!("{place}: {message} {rule}\n");
    out.push_str(&texts.excerpt(location, style).unwrap_or_default());
    if let Some(help) = &problem.help {
        out.push_str(&format!("{} {help}\n", style.paint(Tone::Faint, "  = help:")));
    }
    out
}

/// `file:line:column`
pub(crate) fn place(location: &Location) -> String {
    format!(
        "{}:{}:{}",
        location.file, location.start.line, location.start.column
    )
}

/// A message without its middle, if it is very long.
fn shortened(message: &str) -> String {
    if message.len() <= LONGEST {
        return message.to_owned();
    }
    let head = message
        .get(..message.floor_char_boundary(LONGEST / 2))
        .unwrap_or_default();
    let tail = message
        .get(message.ceil_char_boundary(message.len() - LONGEST / 2)..)
        .unwrap_or_default();
    let left_out = message.len() - head.len() - tail.len();
    format!("{head}… ({left_out} bytes left out) …{tail}")
}

/// A problem for programs.
#[derive(Debug, Serialize)]
pub(crate) struct JsonProblem<'a> {
    rule: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<JsonName<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<JsonLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

/// An object that a problem is about.
#[derive(Debug, Serialize)]
struct JsonName<'a> {
    kind: &'static str,
    name: &'a str,
}

/// Where something is.
#[derive(Debug, Serialize)]
pub(crate) struct JsonLocation<'a> {
    file: &'a str,
    document: usize,
    start: JsonPosition,
    end: JsonPosition,
}

/// Line and column from 1, the column in characters; the offset in bytes from 0.
#[derive(Debug, Serialize)]
struct JsonPosition {
    line: u32,
    column: u32,
    offset: usize,
}

impl<'a> From<&'a Problem> for JsonProblem<'a> {
    fn from(problem: &'a Problem) -> Self {
        JsonProblem {
            rule: problem.rule.name(),
            message: &problem.message,
            field: problem.field.as_deref(),
            object: problem.object.as_ref().map(JsonName::from),
            location: problem.location.as_ref().map(JsonLocation::from),
            help: problem.help.as_deref(),
        }
    }
}

impl<'a> From<&'a ObjectName> for JsonName<'a> {
    fn from(object: &'a ObjectName) -> Self {
        JsonName {
            kind: object.kind.name(),
            name: &object.name,
        }
    }
}

impl<'a> From<&'a Location> for JsonLocation<'a> {
    fn from(location: &'a Location) -> Self {
        JsonLocation {
            file: &location.file,
            document: location.document,
            start: location.start.into(),
            end: location.end.into(),
        }
    }
}

impl From<Position> for JsonPosition {
    fn from(position: Position) -> Self {
        JsonPosition {
            line: position.line,
            column: position.column,
            offset: position.offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        let short = shortened(&"é".repeat(LONGEST));
        assert!(short.len() < LONGEST + 64 && short.contains("bytes left out"));
        assert_eq!(shortened("all of it"), "all of it");
    }
}
