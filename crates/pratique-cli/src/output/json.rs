//! JSON in which invisible characters are escaped, so that it can be printed on a terminal.

use std::fmt::Write as _;

use pratique_schema::Release;
use pratique_types::is_nonprinting;
use serde::Serialize;

use super::text::is_plain;

/// The last line of an output of JSON lines: the counts.
#[derive(Serialize)]
pub(crate) struct SummaryLine<T> {
    pub(crate) summary: T,
}

/// A line about a decision, with the release of Kubernetes that decided.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReleaseLine<T> {
    #[serde(flatten)]
    decision: T,
    kubernetes_version: String,
}

impl<T> ReleaseLine<T> {
    pub(crate) fn new(decision: T, release: &Release) -> Self {
        ReleaseLine {
            decision,
            kubernetes_version: release.to_string(),
        }
    }
}

/// Whether a number is left out of an object.
pub(crate) fn is_zero<N: PartialEq + Default>(number: &N) -> bool {
    *number == N::default()
}

/// Formats a value on several lines.
pub(crate) fn pretty(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_string_pretty(value).map(|json| visible(&json))
}

/// Formats a value on one line.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut json = serde_json::to_string(value)?;
    if is_visible(&json) {
        json.push('\n');
        return Ok(json.into_bytes());
    }
    // Values that are written as they were read may have line breaks between their members.
    Ok(visible(&json.replace(is_between, "")))
}

/// Escapes invisible characters in a line of JSON.
pub(crate) fn visible_line(line: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(line.trim_ascii_end()) else {
        return line.to_vec();
    };
    let mut out = String::with_capacity(line.len());
    escape(&mut out, text);
    out.push('\n');
    out.into_bytes()
}

/// Escapes what is not visible in JSON, and ends it with a line break.
fn visible(json: &str) -> Vec<u8> {
    let mut out = String::with_capacity(json.len() + 1);
    for piece in json.split_inclusive(is_between) {
        let text = piece.trim_end_matches(is_between);
        escape(&mut out, text);
        out.push_str(piece.get(text.len()..).unwrap_or_default());
    }
    out.push('\n');
    out.into_bytes()
}

/// Whether a character stands between the tokens of JSON only; what is escaped stands in strings only.
fn is_between(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\t')
}

/// Whether a text has only visible characters, and none that CI runners interpret as a command.
fn is_visible(text: &str) -> bool {
    is_plain(text) && !text.contains("##")
}

fn escape(out: &mut String, text: &str) {
    if is_visible(text) {
        return out.push_str(text);
    }
    let mut rest = text;
    let hidden = |(at, character): &(usize, char), text: &str| {
        is_nonprinting(*character) || text.get(*at..).is_some_and(|rest| rest.starts_with("##"))
    };
    while let Some((at, character)) = rest
        .char_indices()
        .find(|indexed_character| hidden(indexed_character, rest))
    {
        let (plain_text, from) = rest.split_at(at);
        out.push_str(plain_text);
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
        rest = from.get(character.len_utf8()..).unwrap_or_default();
    }
    out.push_str(rest);
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
