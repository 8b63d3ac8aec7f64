//! Workflow commands of GitHub Actions, which show messages beside the lines of a change.

use std::fmt::Write as _;

use pratique_manifest::Location;

use super::text::{Text, printed, without_commands, without_invisible};

/// Lines of workflow commands. Other text is escaped, so that a runner does not interpret it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(String);

impl Commands {
    /// Adds a message: the level is `error`, `warning` or `notice`.
    pub(crate) fn annotate(
        &mut self,
        level: &'static str,
        location: Option<&Location>,
        title: &str,
        message: &str,
    ) {
        let place = location.map(|location| {
            let (start, end) = (location.start, location.end);
            // An end column is one of the first line.
            let column = match start.line == end.line {
                true => format!("endColumn={},", end.column),
                false => String::new(),
            };
            format!(
                "file={},line={},endLine={},col={},{column}",
                property(&location.file),
                start.line,
                end.line,
                start.column
            )
        });
        let (place, title) = (place.unwrap_or_default(), property(title));
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "::{level} {place}title={title}::{}", data(message));
    }

    /// Adds a notice about a file as a whole.
    pub(crate) fn notice_file(&mut self, file: &str, title: &str, message: &str) {
        let (file, title) = (property(file), property(title));
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "::notice file={file},title={title}::{}", data(message));
    }

    /// Adds lines for the log.
    pub(crate) fn log(&mut self, text: &Text) {
        self.0.push_str(&printed(text));
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Escapes a message as GitHub's toolkit does, with visible characters only.
fn data(text: &str) -> String {
    // Lines may end with both.
    let lines = text.replace("\r\n", "\n");
    let visible = without_commands(&without_invisible(&lines)).into_owned();
    visible.replace('%', "%25").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::text::text;

    #[test]
    fn texts_are_escaped() {
        let mut commands = Commands::default();
        commands.annotate(
            "error",
            None,
            "a: b, c\n::x ##[y]",
            "1%\n2: 3\r\n\r\u{1b}\u{202e}",
        );
        commands.log(&text!("{}\n  ::error::x\n", "::stop-commands::y\n::z"));
        assert_eq!(
            commands.as_str(),
            "::error title=a%3A b%2C c%0A%3A%3Ax #\\u{23}[y]::1%25%0A2: 3%0A\\r\\u{1b}\\u{202e}\n\
             \\u{3a}:stop-commands::y\\n::z\n  \\u{3a}:error::x\n"
        );
    }
}
