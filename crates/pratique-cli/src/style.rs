//! Colours, for terminals unless `NO_COLOR` is set.

use std::env;
use std::io::{self, IsTerminal};

use crate::output::capture::is_capturing;
use crate::output::text::{Show, Text, text};

/// The tone of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// An error or denial.
    Bad,
    /// A warning.
    Warning,
    /// Success.
    Good,
    /// A location.
    Place,
    /// Secondary text.
    Faint,
}

/// The style of one of the standard streams.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// For standard output.
    pub(crate) fn of_stdout() -> Self {
        Style {
            coloured: io::stdout().is_terminal() && wanted() && !is_capturing(),
        }
    }

    /// For standard error.
    pub(crate) fn of_stderr() -> Self {
        Style {
            coloured: io::stderr().is_terminal() && wanted(),
        }
    }

    /// Colours a piece of text.
    pub(crate) fn paint(self, tone: Tone, piece: impl Show) -> Text {
        let text = text!("{}", piece);
        if self.coloured {
            text.coloured(code(tone))
        } else {
            text
        }
    }
}

fn wanted() -> bool {
    let given = |name| env::var_os(name).unwrap_or_default();
    given("NO_COLOR").is_empty() && given("TERM") != "dumb"
}

fn code(tone: Tone) -> &'static str {
    match tone {
        Tone::Bad => "1;31",
        Tone::Warning => "1;33",
        Tone::Good => "1;32",
        Tone::Place => "1",
        Tone::Faint => "2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_unless_coloured() {
        assert_eq!(Style::default().paint(Tone::Bad, "x\u{1b}").as_str(), "x\\u{1b}");
        assert_eq!(
            Style { coloured: true }.paint(Tone::Bad, "x").as_str(),
            "\u{1b}[1;31mx\u{1b}[0m"
        );
    }
}
