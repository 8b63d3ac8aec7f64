//! JSON in which invisible characters are escaped, so that it can be printed on a terminal.

use std::io::{self, Write};

use pratique_types::is_nonprinting;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::text::is_plain;

/// Formats a value on several lines.
pub(crate) fn pretty(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    written(value, PrettyFormatter::new())
}

/// Formats a value on one line.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    written(value, CompactFormatter)
}

fn written(value: &impl Serialize, formatter: impl Formatter) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut out,
        Visible(formatter),
    ))?;
    out.push(b'\n');
    Ok(out)
}

/// Escapes invisible characters in a line of JSON.
pub(crate) fn visible_line(line: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(line.trim_ascii_end()) else {
        return line.to_vec();
    };
    let mut out = Vec::with_capacity(line.len());
    // Writing to a vector cannot fail.
    let _ = escape(&mut out, text);
    out.push(b'\n');
    out
}

/// A formatter that escapes invisible characters, and text that CI runners interpret as commands.
struct Visible<F>(F);

impl<F: Formatter> Formatter for Visible<F> {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        escape(out, fragment)
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // What is beyond ASCII, and `##`, stand in strings only; other blanks than these stand between.
        for piece in fragment.split_inclusive(['\n', '\r', '\t']) {
            let bare = piece.trim_end_matches(['\n', '\r', '\t']);
            escape(out, bare)?;
        }
        Ok(())
    }

    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

fn escape<W: Write + ?Sized>(out: &mut W, text: &str) -> io::Result<()> {
    if is_plain(text) && !text.contains("##") {
        return out.write_all(text.as_bytes());
    }
    let mut rest = text;
    let hidden = |(at, character): &(usize, char), text: &str| {
        is_nonprinting(*character) || text.get(*at..).is_some_and(|rest| rest.starts_with("##"))
    };
    while let Some((at, character)) = rest.char_indices().find(|found| hidden(found, rest)) {
        let (seen, from) = rest.split_at(at);
        out.write_all(seen.as_bytes())?;
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        rest = from.get(character.len_utf8()..).unwrap_or_default();
    }
    out.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn values_stay_the_same() {
        let value = json!({"a\u{202e}\n": ["\u{9b}1m\u{7f}\u{1b}\u{e0041}", "##[error]#é", 1]});
        let text = String::from_utf8(line(&value).unwrap()).unwrap();
        assert_eq!(
            text,
            "{\"a\\u202e\\n\":[\"\\u009b1m\\u007f\\u001b\\udb40\\udc41\",\"\\u0023#[error]#é\",1]}\n"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        let pretty = pretty(&value).unwrap();
        assert_eq!(
            serde_json::from_slice::<serde_json::Value>(&pretty).unwrap(),
            value
        );
        let raw = RawValue::from_string("{\"a\":\t\"\u{200b}\",\n \"b\": 1}".to_owned()).unwrap();
        assert_eq!(line(&raw).unwrap(), b"{\"a\":\"\\u200b\", \"b\": 1}\n");
    }
}
