//! Colours, for terminals unless `NO_COLOR` is set.

use std::env;
use std::io::{self, IsTerminal};

use crate::output::capture::is_capturing;
use crate::output::text::{PrintableText, ShowArgument, text};

/// The tone of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextTone {
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
pub(crate) struct StreamStyle {
    coloured: bool,
}

impl StreamStyle {
    /// For standard output.
    pub(crate) fn of_stdout() -> Self {
        StreamStyle {
            coloured: io::stdout().is_terminal() && wanted() && !is_capturing(),
        }
    }

    /// For standard error.
    pub(crate) fn of_stderr() -> Self {
        StreamStyle {
            coloured: io::stderr().is_terminal() && wanted(),
        }
    }

    /// Colours a piece of text.
    pub(crate) fn paint(self, tone: TextTone, piece: impl ShowArgument) -> PrintableText {
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

fn code(tone: TextTone) -> &'static str {
    match tone {
        TextTone::Bad => "1;31",
        TextTone::Warning => "1;33",
        TextTone::Good => "1;32",
        TextTone::Place => "1",
        TextTone::Faint => "2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_unless_coloured() {
        assert_eq!(
            StreamStyle::default().paint(TextTone::Bad, "x\u{1b}").as_str(),
            "x\\u{1b}"
        );
        assert_eq!(
            StreamStyle { coloured: true }.paint(TextTone::Bad, "x").as_str(),
            "\u{1b}[1;31mx\u{1b}[0m"
        );
    }
}
