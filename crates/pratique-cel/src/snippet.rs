//! The source excerpt of an error message.

use std::fmt::{self, Formatter};

use crate::error::Issue;
use crate::source::Source;

/// How many bytes a line may have to be shown.
const LONGEST_LINE: usize = 16_384;

/// Writes `ERROR: <input>:LINE:COLUMN: MESSAGE`, then the line and a caret under the place when it has one.
pub(crate) fn write(formatter: &mut Formatter<'_>, source: &Source, issue: &Issue) -> fmt::Result {
    let position = issue.position;
    write!(
        formatter,
        "ERROR: <input>:{}:{}: {}",
        position.line,
        position.column + 1,
        issue.message
    )?;
    let line = source
        .line(position.line)
        .filter(|line| line.len() <= LONGEST_LINE);
    let Some(line) = line.filter(|_| !source.as_str().is_empty()) else {
        return Ok(());
    };
    write!(formatter, "\n | {}\n | ", line.replace('\t', " "))?;
    let column = usize::try_from(position.column).unwrap_or(0);
    for character in line.chars().take(column) {
        formatter.write_str(if is_wide(character) { "．" } else { "." })?;
    }
    let wide = line.chars().nth(column).is_some_and(is_wide);
    formatter.write_str(if wide { "＾" } else { "^" })
}

/// Whether the reference draws the full-width form of the dot and caret under a character.
fn is_wide(character: char) -> bool {
    character.len_utf8() > 1
}
