//! Strict JSON with positions and the messages of the server's parser.

mod newer_text;
mod text;
mod write;

use std::fmt::{self, Display, Formatter};

pub use write::write;

use crate::budget::{Budget, BudgetExceeded, Meter};
use crate::position::Span;
use crate::tree::{Entry, NodeId, StringStyle, Tree, TreeValue};

/// How deep values may nest, as in the server.
const MAX_DEPTH: usize = 10_000;

/// A JSON document's values. Keys stand in the order of the text, repeated ones too.
#[derive(Debug)]
pub struct Document {
    /// The values.
    pub tree: Tree,
    /// The document's value.
    pub root: NodeId,
    /// The cost of its values.
    pub cost: u64,
}

/// Why bytes are not JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The message of a server that is built with a Go before 1.27.
    pub message: String,
    /// The byte at error.
    pub offset: usize,
    /// The message since Go 1.27, where it is another one.
    newer_message: Option<String>,
}

impl SyntaxError {
    /// The message of a server: of one that is built with Go 1.27 or a later one, or with an earlier one.
    pub fn to_text(&self, is_of_go_1_27: bool) -> &str {
        match &self.newer_message {
            Some(newer) if is_of_go_1_27 => newer,
            _ => &self.message,
        }
    }
}

impl Display for SyntaxError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Whether the server takes a document for JSON: its first byte that is not blank decides.
pub fn is_json(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}

/// Parses a document, whose values are spent of a budget. Nesting costs no stack.
///
/// # Errors
/// The first error, or that the values exceed the budget.
pub fn parse(bytes: &[u8], budget: &Budget) -> Result<Document, SyntaxError> {
    let (document, end) = parse_first(bytes, budget)?;
    let rest = bytes.get(end..).unwrap_or_default();
    match rest.iter().position(|byte| !is_blank(*byte)) {
        None => Ok(document),
        Some(at) => Err(text::unexpected(bytes, end + at, "after top-level value")),
    }
}

/// Parses the value that some bytes begin with, and says where it ends.
///
/// # Errors
/// As [`parse`].
pub fn parse_first(bytes: &[u8], budget: &Budget) -> Result<(Document, usize), SyntaxError> {
    let mut parser = JsonParser {
        bytes,
        at: 0,
        tree: Tree::default(),
        open: Vec::new(),
        budget,
        meter: Meter::new(budget),
    };
    let root = parser.value_of_document()?;
    let JsonParser { tree, at, meter, .. } = parser;
    let cost = meter.finish().map_err(exceeded(budget, at))?;
    Ok((Document { tree, root, cost }, at))
}

/// The values exceed the budget at this one.
fn exceeded(budget: &Budget, offset: usize) -> impl FnOnce(BudgetExceeded) -> SyntaxError {
    move |_| SyntaxError {
        message: budget.message(),
        offset,
        newer_message: None,
    }
}

/// Whether a byte may stand between values.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

struct JsonParser<'a> {
    bytes: &'a [u8],
    at: usize,
    tree: Tree,
    open: Vec<OpenCollection>,
    budget: &'a Budget,
    meter: Meter<'a>,
}

/// A collection that is begun and not ended.
enum OpenCollection {
    List {
        start: usize,
        items: Vec<NodeId>,
    },
    Map {
        start: usize,
        entries: Vec<Entry>,
        key: Box<str>,
        key_span: Span,
    },
}

/// The step after a value.
enum NextStep {
    /// Another value, of the same collection or of a new one.
    Value,
    /// Nothing: the document's value is complete.
    Done(NodeId),
}

impl JsonParser<'_> {
    fn value_of_document(&mut self) -> Result<NodeId, SyntaxError> {
        loop {
            if let NextStep::Done(root) = self.value()? {
                return Ok(root);
            }
        }
    }

    fn value(&mut self) -> Result<NextStep, SyntaxError> {
        self.skip_blanks();
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => return self.begin_map(),
            Some(b'[') => return self.begin_list(),
            Some(b'"') => TreeValue::String(
                text::string(self.bytes, &mut self.at)?.into(),
                StringStyle::DoubleQuoted,
            ),
            Some(b'-' | b'0'..=b'9') => TreeValue::Number(text::number(self.bytes, &mut self.at)?.into()),
            Some(b't') => self.literal("true", TreeValue::Bool(true))?,
            Some(b'f') => self.literal("false", TreeValue::Bool(false))?,
            Some(b'n') => self.literal("null", TreeValue::Null)?,
            _ => return Err(self.unexpected("looking for beginning of value")),
        };
        let length = match &value {
            TreeValue::String(text, _) | TreeValue::Number(text) => text.len(),
            _ => 0,
        };
        let id = self.push(start, value, length)?;
        self.end_value(id)
    }

    /// Adds a value that ends here.
    fn push(&mut self, start: usize, value: TreeValue, length: usize) -> Result<NodeId, SyntaxError> {
        let spent = self.meter.value(length);
        spent.map_err(exceeded(self.budget, start))?;
        Ok(self.tree.push(Span::new(start, self.at), value))
    }

    fn literal(&mut self, word: &str, value: TreeValue) -> Result<TreeValue, SyntaxError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting {})", text::quoted_byte(expected));
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn begin_map(&mut self) -> Result<NextStep, SyntaxError> {
        let start = self.begin()?;
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            let id = self.push(start, TreeValue::Map(Vec::new()), 0)?;
            return self.end_value(id);
        }
        let (key, key_span) = self.key()?;
        self.open.push(OpenCollection::Map {
            start,
            entries: Vec::new(),
            key,
            key_span,
        });
        Ok(NextStep::Value)
    }

    fn begin_list(&mut self) -> Result<NextStep, SyntaxError> {
        let start = self.begin()?;
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            let id = self.push(start, TreeValue::List(Vec::new()), 0)?;
            return self.end_value(id);
        }
        self.open.push(OpenCollection::List {
            start,
            items: Vec::new(),
        });
        Ok(NextStep::Value)
    }

    fn begin(&mut self) -> Result<usize, SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.unexpected("exceeded max depth"));
        }
        self.tree.reach(self.open.len() + 1);
        self.at += 1;
        Ok(self.at - 1)
    }

    fn key(&mut self) -> Result<(Box<str>, Span), SyntaxError> {
        self.skip_blanks();
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let key = text::string(self.bytes, &mut self.at)?;
        let spent = self.meter.key(key.len());
        spent.map_err(exceeded(self.budget, start))?;
        let span = Span::new(start, self.at);
        self.skip_blanks();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok((key.into(), span))
    }

    /// Puts a value where it belongs, and ends every collection that ends with it.
    fn end_value(&mut self, id: NodeId) -> Result<NextStep, SyntaxError> {
        let mut id = id;
        loop {
            let Some(open) = self.open.pop() else {
                return Ok(NextStep::Done(id));
            };
            self.skip_blanks();
            let byte = self.peek();
            match open {
                OpenCollection::List { start, mut items } => {
                    items.push(id);
                    match byte {
                        Some(b',') => {
                            self.at += 1;
                            self.open.push(OpenCollection::List { start, items });
                            return Ok(NextStep::Value);
                        }
                        Some(b']') => {
                            self.at += 1;
                            id = self.push(start, TreeValue::List(items), 0)?;
                        }
                        _ => return Err(self.unexpected("after array element")),
                    }
                }
                OpenCollection::Map {
                    start,
                    mut entries,
                    key,
                    key_span,
                } => {
                    entries.push(Entry {
                        key,
                        key_span,
                        value: id,
                    });
                    match byte {
                        Some(b',') => {
                            self.at += 1;
                            let (key, key_span) = self.key()?;
                            self.open.push(OpenCollection::Map {
                                start,
                                entries,
                                key,
                                key_span,
                            });
                            return Ok(NextStep::Value);
                        }
                        Some(b'}') => {
                            self.at += 1;
                            id = self.push(start, TreeValue::Map(entries), 0)?;
                        }
                        _ => return Err(self.unexpected("after object key:value pair")),
                    }
                }
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    fn unexpected(&self, context: &str) -> SyntaxError {
        text::unexpected(self.bytes, self.at, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(json: &str, message: &str, offset: usize) {
        let error = parse(json.as_bytes(), &Budget::unlimited()).unwrap_err();
        assert_eq!(
            (&*error.message, error.to_text(false), error.offset),
            (message, message, offset),
            "{json}"
        );
    }

    #[test]
    fn values_keep_their_places() {
        let document = parse(br#" {"a": [1, "x\u0041"], "a": null}"#, &Budget::unlimited()).unwrap();
        let TreeValue::Map(entries) = &document.tree.get(document.root).value else {
            panic!()
        };
        let keys: Vec<_> = entries
            .iter()
            .map(|entry| (&*entry.key, entry.key_span.start))
            .collect();
        assert_eq!(keys, [("a", 2), ("a", 23)]);
        let TreeValue::List(items) = &document.tree.get(entries[0].value).value else {
            panic!()
        };
        let text = document.tree.get(items[1]);
        assert_eq!(text.span, Span::new(11, 20));
        assert!(matches!(&text.value, TreeValue::String(text, _) if &**text == "xA"));
    }

    #[test]
    fn faults_are_those_of_the_server() {
        check_error("", "unexpected end of JSON input", 0);
        check_error("{", "unexpected end of JSON input", 1);
        check_error(
            "{a: 1}",
            "invalid character 'a' looking for beginning of object key string",
            1,
        );
        check_error("{\"a\" 1}", "invalid character '1' after object key", 5);
        check_error(
            "{\"a\": 1 \"b\"}",
            "invalid character '\"' after object key:value pair",
            8,
        );
        check_error(
            "{\"a\": 1,}",
            "invalid character '}' looking for beginning of object key string",
            8,
        );
        check_error("[1,]", "invalid character ']' looking for beginning of value", 3);
        check_error("[1 2]", "invalid character '2' after array element", 3);
        check_error("{} x", "invalid character 'x' after top-level value", 3);
        check_error("tru", "invalid character ' ' in literal true (expecting 'e')", 3);
        check_error("trap", "invalid character 'a' in literal true (expecting 'u')", 2);
        check_error("01", "invalid character '1' after top-level value", 1);
        check_error("-x", "invalid character 'x' in numeric literal", 1);
        check_error(
            "1.",
            "invalid character ' ' after decimal point in numeric literal",
            2,
        );
        check_error(
            "1.x",
            "invalid character 'x' after decimal point in numeric literal",
            2,
        );
        check_error("1ex", "invalid character 'x' in exponent of numeric literal", 2);
        check_error("\"\\x\"", "invalid character 'x' in string escape code", 2);
        check_error(
            "\"\\u00g0\"",
            "invalid character 'g' in \\u hexadecimal character escape",
            5,
        );
        check_error("\"a\nb\"", "invalid character '\\n' in string literal", 2);
    }

    /// A text, its bytes as characters; the message before Go 1.27, and since: `tools/go/jsonerrors` asked both.
    type RecordedError = (String, String, String);

    #[test]
    fn messages_are_those_of_both_parsers() {
        let recorded: Vec<RecordedError> =
            serde_json::from_str(include_str!("../testdata/syntax-errors.json")).unwrap();
        let differ = recorded.iter().filter(|(_, before, since)| before != since);
        assert!(differ.count() > 100);
        for (text, before, since) in recorded {
            let bytes: Vec<u8> = text.chars().map(|byte| u8::try_from(byte).unwrap()).collect();
            let error = parse(&bytes, &Budget::unlimited()).unwrap_err();
            assert_eq!(
                (error.to_text(false), error.to_text(true)),
                (&*before, &*since),
                "{text}"
            );
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = "[".repeat(100_000);
        assert_eq!(
            parse(deep.as_bytes(), &Budget::unlimited())
                .err()
                .unwrap()
                .message,
            "invalid character '[' exceeded max depth"
        );
        let error = parse(deep.as_bytes(), &Budget::unlimited()).unwrap_err();
        assert_eq!(error.to_text(true), "exceeded max depth");
    }
}
