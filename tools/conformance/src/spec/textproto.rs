//! Protocol buffers in their text form, read without their schema.

use pratique_harness::ToolError;

/// A message: its fields in order; a repeated field is there several times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProtoMessage {
    pub(super) fields: Vec<(String, ProtoField)>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ProtoField {
    Message(ProtoMessage),
    /// A string; its bytes need not be UTF-8.
    Text(Vec<u8>),
    /// A number, a boolean or an enumerated value, as it is written.
    Word(String),
}

/// How deeply messages may nest.
const MAX_DEPTH: usize = 100;

/// Reads a message.
pub(super) fn parse(text: &str) -> Result<ProtoMessage, ToolError> {
    let mut reader = ProtoReader {
        rest: text,
        text,
        depth: 0,
    };
    let message = reader.message(None)?;
    Ok(message)
}

impl ProtoMessage {
    /// The field of a name; the first where there are several.
    pub(super) fn get(&self, name: &str) -> Option<&ProtoField> {
        self.find_all(name).next()
    }

    /// All fields of a name.
    pub(super) fn find_all<'m>(&'m self, name: &str) -> impl Iterator<Item = &'m ProtoField> {
        let name = name.to_owned();
        let fields = self.fields.iter();
        fields
            .filter(move |(field, _)| *field == name)
            .map(|(_, field)| field)
    }

    /// The messages of a field.
    pub(super) fn messages<'m>(&'m self, name: &str) -> impl Iterator<Item = &'m ProtoMessage> {
        self.find_all(name).filter_map(ProtoField::message)
    }

    /// The message of a field.
    pub(super) fn message(&self, name: &str) -> Option<&ProtoMessage> {
        self.messages(name).next()
    }

    /// The string or word of a field; empty where it is absent.
    pub(super) fn read_text(&self, name: &str) -> String {
        match self.get(name) {
            Some(ProtoField::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(ProtoField::Word(word)) => word.clone(),
            _ => String::new(),
        }
    }

    /// Whether a field is `true`.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.read_text(name) == "true"
    }
}

impl ProtoField {
    pub(super) fn message(&self) -> Option<&ProtoMessage> {
        match self {
            ProtoField::Message(message) => Some(message),
            _ => None,
        }
    }
}

struct ProtoReader<'t> {
    rest: &'t str,
    text: &'t str,
    depth: usize,
}

impl ProtoReader<'_> {
    /// The fields up to a closing bracket, or to the end of the text.
    fn message(&mut self, close: Option<char>) -> Result<ProtoMessage, ToolError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault("nests too deeply"));
        }
        self.depth += 1;
        let mut message = ProtoMessage::default();
        loop {
            self.blank();
            match (self.rest.chars().next(), close) {
                (None, None) => break,
                (Some(bracket), Some(close)) if bracket == close => {
                    self.skip(1);
                    break;
                }
                (None, Some(_)) => return Err(self.fault("ends within a message")),
                _ => {
                    let name = self.name()?;
                    self.field(&name, &mut message)?;
                }
            }
        }
        self.depth -= 1;
        Ok(message)
    }

    /// The value or values after a name.
    fn field(&mut self, name: &str, message: &mut ProtoMessage) -> Result<(), ToolError> {
        let colon = self.take(':');
        if colon && self.take('[') {
            while !self.take(']') {
                let value = self.value()?;
                message.fields.push((name.to_owned(), value));
                self.take(',');
            }
        } else {
            let value = self.value()?;
            message.fields.push((name.to_owned(), value));
        }
        let _ = self.take(',') || self.take(';');
        Ok(())
    }

    fn value(&mut self) -> Result<ProtoField, ToolError> {
        if self.take('{') {
            return self.message(Some('}')).map(ProtoField::Message);
        }
        if self.take('<') {
            return self.message(Some('>')).map(ProtoField::Message);
        }
        if self.rest.starts_with(['"', '\'']) {
            let mut bytes = Vec::new();
            // Strings in a row are one.
            while self.rest.starts_with(['"', '\'']) {
                self.string(&mut bytes)?;
                self.blank();
            }
            return Ok(ProtoField::Text(bytes));
        }
        let word = self.while_true(|character| character.is_alphanumeric() || "_+-.".contains(character));
        if word.is_empty() {
            Err(self.fault("has no value"))
        } else {
            Ok(ProtoField::Word(word))
        }
    }

    /// A name, or the name of a type in brackets.
    fn name(&mut self) -> Result<String, ToolError> {
        let name = if self.take('[') {
            let name = self.while_true(|character| character != ']');
            self.skip(1);
            name
        } else {
            self.while_true(|character| character.is_alphanumeric() || character == '_')
        };
        if name.is_empty() {
            Err(self.fault("has no name of a field"))
        } else {
            Ok(name)
        }
    }

    fn string(&mut self, bytes: &mut Vec<u8>) -> Result<(), ToolError> {
        let mut rest = self.rest.chars();
        let quote = rest.next();
        loop {
            let next_character = rest.next();
            match next_character {
                None | Some('\n') => return Err(self.fault("ends within a string")),
                Some('\\') => match escape(&mut rest) {
                    Some(escaped) => bytes.extend(escaped),
                    None => return Err(self.fault("has an unknown escape")),
                },
                next_character if next_character == quote => break,
                Some(next_character) => bytes.extend(next_character.to_string().bytes()),
            }
        }
        self.rest = rest.as_str();
        Ok(())
    }

    fn while_true(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let end = self
            .rest
            .find(|character| !wanted(character))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    /// Takes a character, past blanks before it.
    fn take(&mut self, wanted: char) -> bool {
        self.blank();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                self.blank();
                true
            }
            None => false,
        }
    }

    fn blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix('#') {
                Some(comment) => self.rest = comment.find('\n').map_or("", |end| comment.split_at(end).1),
                None => break,
            }
        }
    }

    fn skip(&mut self, count: usize) {
        let mut rest = self.rest.chars();
        rest.by_ref().take(count).for_each(drop);
        self.rest = rest.as_str();
    }

    fn fault(&self, what: &str) -> ToolError {
        let read = self.text.len() - self.rest.len();
        let line = self.text.bytes().take(read).filter(|byte| *byte == b'\n').count() + 1;
        format!("line {line} {what}").into()
    }
}

/// The bytes of what follows a backslash.
fn escape(rest: &mut std::str::Chars<'_>) -> Option<Vec<u8>> {
    let simple = |byte: u8| Some(vec![byte]);
    match rest.next()? {
        'n' => simple(b'\n'),
        't' => simple(b'\t'),
        'r' => simple(b'\r'),
        'a' => simple(7),
        'b' => simple(8),
        'f' => simple(12),
        'v' => simple(11),
        same @ ('\\' | '\'' | '"' | '?') => simple(same as u8),
        'x' => simple(u8::try_from(digits(rest, 16, 0, 2)?).ok()?),
        'u' => character(digits(rest, 16, 0, 4)?),
        'U' => character(digits(rest, 16, 0, 8)?),
        first => simple(u8::try_from(digits(rest, 8, first.to_digit(8)?, 2)?).ok()?),
    }
}

/// The number with at most a number of further digits.
fn digits(rest: &mut std::str::Chars<'_>, radix: u32, start: u32, most: usize) -> Option<u32> {
    let mut number = start;
    for _ in 0..most {
        let Some(digit) = rest
            .clone()
            .next()
            .and_then(|character| character.to_digit(radix))
        else {
            break;
        };
        number = number.checked_mul(radix)?.checked_add(digit)?;
        rest.next();
    }
    Some(number)
}

fn character(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|scalar| scalar.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match parse(text) {
            Ok(message) => show(&message),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    fn show(message: &ProtoMessage) -> String {
        let fields = message.fields.iter().map(|(name, field)| match field {
            ProtoField::Message(message) => format!("{name}={{{}}}", show(message)),
            ProtoField::Text(bytes) => format!("{name}='{}'", bytes.escape_ascii()),
            ProtoField::Word(word) => format!("{name}={word}"),
        });
        fields.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn messages() {
        check("a: 1 b: -inf, c: true; d: X", "a=1 b=-inf c=true d=X");
        check("a { b: 1 } a: { } # end\na <b: 2>", "a={b=1} a={} a={b=2}");
        check("a: [1, 2] a: []", "a=1 a=2");
        check("[type.x/a.B] { c: 1 }", "type.x/a.B={c=1}");
    }

    #[test]
    fn strings() {
        check(r#"a: "x" 'y"' # z"#, r#"a='xy\"'"#);
        check(r#"a: "\n\x41\101\u00e9\0""#, r#"a='\nAA\xc3\xa9\x00'"#);
    }

    #[test]
    fn faults() {
        check("a: {", "line 1 ends within a message");
        check("\na: 'x", "line 2 ends within a string");
        check("a: '\\q'", "line 1 has an unknown escape");
        check("a:", "line 1 has no value");
        check(": 1", "line 1 has no name of a field");
        check(&"a{".repeat(200), "line 1 nests too deeply");
    }
}
