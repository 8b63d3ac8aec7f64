//! Answers on standard output, everything else on standard error, and neither in the way of the other.

pub(crate) mod catalog;
pub(crate) mod excerpt;
pub(crate) mod finding;
pub(crate) mod github;
pub(crate) mod junit;
pub(crate) mod problems;
pub(crate) mod sarif;

use std::io::{self, ErrorKind, Write};

use crate::exit::Trouble;

/// Writes an answer. If standard output is a pipe without a reader, the command ends as other programs do then:
/// quietly, with the exit code of `SIGPIPE`.
pub(crate) fn answer(text: &str) -> Result<(), Trouble> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Trouble::Unread,
            _ => Trouble::Write(error),
        })
}

/// Writes a note. Where it cannot be written there is nobody to tell.
pub(crate) fn note(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes an answer as JSON.
pub(crate) fn answer_json(value: &impl serde::Serialize) -> Result<(), Trouble> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Trouble::Write(error.into()))?;
    answer(&(text + "\n"))
}
