//! Text that is safe to print, even with untrusted parts.
//!
//! Names, messages, file names and objects are untrusted. In a [`PrintableText`], their control and invisible characters are
//! escaped (`\u{1b}`), so that they cannot move the cursor, hide text, or begin lines. The macro [`text!`] builds a
//! text from a format and arguments, which are escaped unless they are texts. Lines that a CI runner would interpret as
//! a command are broken when a text is printed ([`printed`]).
//!
//! [`text!`]: crate::output::text::text

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::iter::repeat_n;

use pratique_types::is_nonprinting;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Text that can be printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PrintableText(String);

/// Builds a [`PrintableText`] as `format!` builds a string. Arguments are positional, and escaped to one line; texts are
/// inserted unchanged, and [`IndentedLines`] keep their line breaks.
macro_rules! text {
    ($format:literal $(, $argument:expr)* $(,)?) => {
        // Formats that are expanded from macros name no variables, which would not be escaped.
        $crate::output::text::PrintableText::from_arguments(::std::format_args!(
            ::std::concat!($format)
            $(, $crate::output::text::EscapedArgument(&$argument))*
        ))
    };
}
pub(crate) use text;

/// An argument of [`text!`].
pub(crate) trait ShowArgument {
    /// Writes the argument, with invisible characters escaped.
    fn show(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Display + ?Sized> ShowArgument for T {
    fn show(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(EscapingWriter(out), "{self}")
    }
}

impl ShowArgument for PrintableText {
    fn show(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl ShowArgument for &PrintableText {
    fn show(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A string with several lines, of which those after the first are indented with `indent`.
pub(crate) struct IndentedLines<'a> {
    pub(crate) text: &'a str,
    pub(crate) indent: &'static str,
}

impl ShowArgument for IndentedLines<'_> {
    fn show(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.text.lines().enumerate() {
            if number > 0 {
                write!(out, "\n{}", self.indent)?;
            }
            EscapingWriter(&mut *out).write_str(line)?;
        }
        Ok(())
    }
}

/// An argument of [`text!`], escaped as it is formatted.
pub(crate) struct EscapedArgument<'a, T: ?Sized>(pub(crate) &'a T);

impl<T: ShowArgument + ?Sized> Display for EscapedArgument<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(out)
    }
}

/// A writer that escapes invisible characters.
pub(crate) struct EscapingWriter<W>(pub(crate) W);

impl<W: fmt::Write> fmt::Write for EscapingWriter<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if is_plain(text) {
            return self.0.write_str(text);
        }
        let mut rest = text;
        while let Some((at, hidden)) = rest
            .char_indices()
            .find(|(_, character)| is_nonprinting(*character))
        {
            let (plain_text, from) = rest.split_at(at);
            self.0.write_str(plain_text)?;
            match hidden {
                '\n' => self.0.write_str("\\n")?,
                '\r' => self.0.write_str("\\r")?,
                '\t' => self.0.write_str("\\t")?,
                other => write!(self.0, "\\u{{{:x}}}", u32::from(other))?,
            }
            rest = from.get(hidden.len_utf8()..).unwrap_or_default();
        }
        self.0.write_str(rest)
    }
}

/// Whether a string has only visible ASCII characters and blanks: a fast path.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Escapes invisible characters except for line breaks, for formats with an escaping of their own.
pub(crate) fn without_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = EscapingWriter(&mut out).write_str(line);
    }
    out
}

impl PrintableText {
    /// No text.
    pub(crate) const fn new() -> Self {
        PrintableText(String::new())
    }

    /// Builds a text from escaped arguments; only for [`text!`].
    pub(crate) fn from_arguments(arguments: fmt::Arguments<'_>) -> Self {
        PrintableText(arguments.to_string())
    }

    /// A value as YAML, indented by `indent` blanks.
    pub(crate) fn yaml(value: &pratique_json::Value<'_>, indent: usize) -> Self {
        // It has escapes of its own: these here find nothing to do.
        PrintableText(without_invisible(&pratique_state::yaml::block(value, indent)))
    }

    /// Colours the text.
    pub(crate) fn coloured(self, code: &'static str) -> Self {
        PrintableText(format!("\u{1b}[{code}m{}\u{1b}[0m", self.0))
    }

    pub(crate) fn push(&mut self, text: &PrintableText) {
        self.0.push_str(&text.0);
    }

    /// The number of characters.
    pub(crate) fn width(&self) -> usize {
        self.0.chars().count()
    }

    /// Pads the text with blanks to a width.
    pub(crate) fn padded(mut self, width: usize) -> Self {
        self.0.extend(repeat_n(' ', width.saturating_sub(self.width())));
        self
    }

    /// Removes trailing white space.
    pub(crate) fn trim_end(&self) -> PrintableText {
        PrintableText(self.0.trim_end().to_owned())
    }

    /// Indents every line.
    pub(crate) fn indented(&self, indent: &'static str) -> PrintableText {
        let lines = self.0.split_inclusive('\n');
        PrintableText(lines.flat_map(|line| [indent, line]).collect())
    }

    /// The characters, for formats with an escaping of their own.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for PrintableText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

/// Text that is read is escaped again, as it may have been changed: colours are lost.
impl<'de> Deserialize<'de> for PrintableText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| PrintableText(without_invisible(&text)))
    }
}

impl FromIterator<PrintableText> for PrintableText {
    fn from_iter<I: IntoIterator<Item = PrintableText>>(texts: I) -> Self {
        PrintableText(texts.into_iter().map(|text| text.0).collect())
    }
}

/// The printed form of a text, in which commands of CI runners are broken by an escape. GitHub's runner looks for
/// `::command` after blanks and for `##[command]` anywhere in a line, others look for `##name[`.
pub(crate) fn printed(text: &PrintableText) -> Cow<'_, str> {
    let text = text.as_str();
    if !text.contains("::") {
        return without_commands(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let begun = line.trim_start();
        out.push_str(line.strip_suffix(begun).unwrap_or_default());
        let rest = begun.strip_prefix("::");
        if rest.is_some() {
            out.push_str("\\u{3a}:");
        }
        out.push_str(&without_commands(rest.unwrap_or(begun)));
    }
    Cow::Owned(out)
}

/// Breaks `##name[` commands.
pub(crate) fn without_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((preceding_text, after)) = rest.split_once("##") {
        out.push_str(preceding_text);
        let name = after.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
        if name.starts_with('[') {
            out.push_str("#\\u{23}");
            rest = after;
        } else {
            out.push('#');
            // Of three in a row the last two may begin a command.
            rest = rest.get(preceding_text.len() + 1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &PrintableText, expected: &str) {
        assert_eq!(text.as_str(), expected);
    }

    #[test]
    fn arguments_are_escaped_and_texts_are_not() {
        let name = "a\nb\r\t\u{1b}[2J\u{9b}\u{202e}\u{2028}é\u{7f}";
        let escaped = "a\\nb\\r\\t\\u{1b}[2J\\u{9b}\\u{202e}\\u{2028}é\\u{7f}";
        check(&text!("{}: {}\n", name, 1), &format!("{escaped}: 1\n"));
        let inner = text!("{}\n", name.to_owned()).coloured("1");
        check(
            &text!("- {}{}", inner, &inner),
            &format!("- \u{1b}[1m{escaped}\n\u{1b}[0m\u{1b}[1m{escaped}\n\u{1b}[0m"),
        );
        let lines = IndentedLines {
            text: "a\r\nb\u{1b}\n",
            indent: "  ",
        };
        check(&text!("x {}\n", lines), "x a\n  b\\u{1b}\n");
        check(&text!("a\nb\n").indented("  "), "  a\n  b\n");
        let read: PrintableText = serde_json::from_str(r#""a\n  \\u{1b} \u001b[2J""#).unwrap();
        check(&read, "a\n  \\u{1b} \\u{1b}[2J");
    }

    #[test]
    fn commands_of_runners_are_broken() {
        for (text, expected) in [
            (text!("a ::b\n"), "a ::b\n"),
            (text!("a\n ::error::x\n::y"), "a\n \\u{3a}:error::x\n\\u{3a}:y"),
            (text!("a ##[error]b\n# ## x"), "a #\\u{23}[error]b\n# ## x"),
            (
                text!("###[x] ##vso[task.y]\n\u{a0}::z"),
                "##\\u{23}[x] #\\u{23}vso[task.y]\n\u{a0}\\u{3a}:z",
            ),
        ] {
            assert_eq!(printed(&text), expected);
        }
    }
}
