//! Parsing documents: YAML or JSON becomes a tree of values with positions, for objects of all kinds.

pub(crate) mod documents;
pub(crate) mod file_document;
pub(crate) mod help;
mod json_stream;
mod scalar;
pub(crate) mod source;
pub(crate) mod split;

use std::borrow::Cow;
use std::sync::Arc;

use pratique_gotext::json::unknown_kind;
use pratique_gotext::utf8::lossy;
use pratique_schema::Release;

use crate::budget::Budget;
use crate::help::Help;
use crate::position::{DocumentSource, Location, Span};
use crate::problem::{Failure, Problem, Rule};
use crate::tree::{NodeId, Tree, TreeValue};
use crate::{json, yaml};
use file_document::FileDocument;
use source::{ObjectSource, ParsedDocument};

/// A parsed document.
pub(crate) struct ParsedContent {
    pub(crate) document: Arc<ParsedDocument>,
    tree: Tree,
    pub(crate) root: NodeId,
    pub(crate) format: DocumentFormat,
    /// The document as it is stored, if it has a byte order mark that its text does not have.
    written: Option<Box<str>>,
    /// The bytes of a JSON document that is not UTF-8; spans refer to these.
    bytes: Option<Box<[u8]>>,
    /// The start of text after the document, which the server does not read.
    pub(crate) rest: Option<usize>,
    /// The cost of its values.
    pub(crate) cost: u64,
    budget: Budget,
}

/// The format of a document.
pub(crate) enum DocumentFormat {
    Json,
    /// YAML, with its duplicate keys.
    Yaml(Vec<yaml::Duplicate>),
}

impl ParsedContent {
    /// Drops the duplicate keys that override those of a merge key: clients make JSON of a file, which a server of its API gets.
    pub(crate) fn resolve_merge_keys(&mut self) {
        if let DocumentFormat::Yaml(duplicates) = &mut self.format {
            duplicates.retain(|duplicate| !duplicate.is_merged);
        }
    }
}

/// Parses a document as JSON or YAML, which its first byte decides. Its values are spent of a budget.
pub(crate) fn parse(
    file: FileDocument,
    budget: &Budget,
    release: &Release,
) -> Result<ParsedContent, Box<Failure>> {
    if json::is_json(&file.raw.bytes) {
        match json::parse(&file.raw.bytes, budget) {
            Ok(parsed) => Ok(parsed_json(file, parsed, budget)),
            Err(error) => {
                let message = error.to_text(release.is_of_go_1_27());
                Err(refused_json(file, error.offset, message))
            }
        }
    } else {
        parse_yaml(file, budget)
    }
}

/// Makes a document of a parsed JSON text.
pub(crate) fn parsed_json(file: FileDocument, parsed: json::Document, budget: &Budget) -> ParsedContent {
    let is_text = std::str::from_utf8(&file.raw.bytes).is_ok();
    let bytes = (!is_text).then(|| file.raw.bytes.as_slice().into());
    ParsedContent {
        document: Arc::new(ParsedDocument::new(json_source(file), true)),
        tree: parsed.tree,
        root: parsed.root,
        format: DocumentFormat::Json,
        written: None,
        bytes,
        rest: None,
        cost: parsed.cost,
        budget: budget.clone(),
    }
}

/// The failure of a text that is no JSON, with what a parser says of it.
pub(crate) fn refused_json(file: FileDocument, offset: usize, message: &str) -> Box<Failure> {
    let source = json_source(file);
    let span = Span::new(offset, offset + 1);
    let help = help::for_json(source.as_str(), offset);
    helped(
        unparsed(unknown_kind(message), message.to_owned(), &source, span),
        help,
    )
}

fn json_source(file: FileDocument) -> DocumentSource {
    let text = into_text(file.raw.bytes);
    DocumentSource::new(file.file, file.index, text, file.raw.start, file.file_lines)
}

/// Parses a document that is YAML.
pub(crate) fn parse_yaml(file: FileDocument, budget: &Budget) -> Result<ParsedContent, Box<Failure>> {
    let is_marked = matches!(file.raw.bytes.first(), Some(0xEF | 0xFE | 0xFF));
    let written = is_marked.then(|| lossy(&file.raw.bytes).into());
    let decoded = yaml::decode(file.raw.bytes);
    let parsed = yaml::parse(&decoded, budget);
    let mut start = file.raw.start;
    start.lead.bytes += decoded.mark_len;
    let source = DocumentSource::new(file.file, file.index, decoded.text, start, file.file_lines);
    match parsed {
        Ok(yaml::Document {
            tree,
            root,
            duplicates,
            cost,
            rest,
        }) => {
            let format = DocumentFormat::Yaml(duplicates);
            Ok(ParsedContent {
                document: Arc::new(ParsedDocument::new(source, false)),
                tree,
                root,
                format,
                written,
                bytes: None,
                rest,
                cost,
                budget: budget.clone(),
            })
        }
        Err(error) => {
            let help = help::for_yaml(source.as_str(), error.span.start as usize);
            let failure = unparsed(error.message.clone(), error.message, &source, error.span);
            Err(helped(failure, help))
        }
    }
}

fn unparsed(text: String, message: String, source: &DocumentSource, span: Span) -> Box<Failure> {
    let problem = Problem::new(Rule::Syntax, message).at(source.location(span));
    Box::new(Failure::single(text, problem))
}

/// A failure with help for its first problem.
fn helped(failure: Box<Failure>, help: Option<String>) -> Box<Failure> {
    let mut failure = failure;
    if let Some(problem) = failure.problems.first_mut() {
        problem.help = help.map(Help::from);
    }
    failure
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl ParsedContent {
    /// The text that the server quotes for a value: as it is written, or, within YAML, converted to JSON.
    pub(crate) fn raw_text(&self, id: NodeId) -> String {
        match self.format {
            _ if id == self.root => match &self.written {
                Some(written) => written.to_string(),
                None => self.document.source.as_str().to_owned(),
            },
            _ => lossy(&self.raw_item(id)).into_owned(),
        }
    }

    /// The bytes that the server keeps of an item of a list: as they are written, or, within YAML, converted to JSON; none for
    /// null.
    fn raw_item(&self, id: NodeId) -> Cow<'_, [u8]> {
        let node = self.tree().get(id);
        match (&node.value, &self.format, &self.bytes) {
            (TreeValue::Null, ..) => Cow::Borrowed(&[]),
            (_, DocumentFormat::Json, Some(bytes)) => {
                let span = node.span.start as usize..node.span.end as usize;
                Cow::Borrowed(bytes.get(span).unwrap_or_default())
            }
            (_, DocumentFormat::Json, None) => {
                Cow::Borrowed(self.document.source.slice(node.span).as_bytes())
            }
            (_, DocumentFormat::Yaml(_), _) => {
                let text = json::write(self.tree(), id);
                Cow::Owned(pratique_json::escape_html(&text).into_owned().into_bytes())
            }
        }
    }

    /// Reads an item that is not an object again, as the server does: as a separate document, and as YAML unless it begins
    /// with a brace. None for objects.
    // Upstream: apimachinery/pkg/runtime/serializer/recognizer/recognizer.go, decoder.Decode
    pub(crate) fn reread_item(&self, id: NodeId) -> Option<Result<(Tree, NodeId), yaml::SyntaxError>> {
        if id == self.root || matches!(self.tree().get(id).value, TreeValue::Map(_) | TreeValue::Null) {
            return None;
        }
        let decoded = yaml::decode(self.raw_item(id).into_owned());
        Some(yaml::parse(&decoded, &self.budget).map(|document| (document.tree, document.root)))
    }

    /// The source of the document's value, which keeps the values that were read.
    pub(crate) fn into_source(self) -> ObjectSource {
        self.document.keep(self.tree);
        ObjectSource::new(self.document, self.root)
    }

    /// Replaces the document's text by a part of the file's text, if it is one.
    pub(crate) fn share(mut self, file: &Arc<String>) -> Self {
        // The document is not shared yet.
        if let Some(document) = Arc::get_mut(&mut self.document) {
            document.source.share(file);
        }
        self
    }

    /// The first line of the text after the document, if there is any.
    pub(crate) fn rest_location(&self) -> Option<Location> {
        let rest = self.rest?;
        let source = &self.document.source;
        let line = source.as_str().get(rest..).and_then(|rest| rest.lines().next());
        let length = line.map_or(1, |line| line.trim_end().len());
        Some(source.location(Span::new(rest, rest + length)))
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }
}

/// A value as JSON, unless it nests too deep. The last of duplicate keys counts.
pub(crate) fn compact(tree: &Tree, id: NodeId) -> Option<serde_json::Value> {
    compact_within(tree, id, MAX_COMPACT_DEPTH)
}

/// How deep values may nest that are kept as they are; in manifests, only managed fields are such values.
pub(crate) const MAX_COMPACT_DEPTH: usize = 256;

fn compact_within(tree: &Tree, id: NodeId, depth: usize) -> Option<serde_json::Value> {
    let depth = depth.checked_sub(1)?;
    Some(match &tree.get(id).value {
        TreeValue::Null => serde_json::Value::Null,
        TreeValue::Bool(value) => (*value).into(),
        TreeValue::Number(text) => number(text),
        TreeValue::String(text, _) => (**text).into(),
        TreeValue::List(items) => items
            .iter()
            .map(|item| compact_within(tree, *item, depth))
            .collect::<Option<_>>()?,
        TreeValue::Map(entries) => entries
            .iter()
            .map(|entry| Some((entry.key.to_string(), compact_within(tree, entry.value, depth)?)))
            .collect::<Option<_>>()?,
    })
}

/// An integer stays one if it fits into 64 bits.
fn number(text: &str) -> serde_json::Value {
    if let Ok(value) = text.parse::<i64>() {
        return value.into();
    }
    text.parse::<u64>()
        .map_or_else(|_| text.parse::<f64>().unwrap_or_default().into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::split::split;
    use crate::position::file_lines;

    #[test]
    fn broken_json_is_refused_in_the_words_of_the_release() {
        for (version, expected) in [
            (
                "1.37",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            ("1.38", "invalid character 'x' in numeric literal"),
        ] {
            let text = r#"{"a": 1.x}"#;
            let file = FileDocument {
                file: "f".into(),
                index: 0,
                raw: split(text.as_bytes()).remove(0),
                file_lines: file_lines(text.as_bytes()),
            };
            let parsed = parse(file, &Budget::unlimited(), Release::by_version(version).unwrap());
            let failure = parsed.map(|_| ()).unwrap_err();
            assert_eq!(failure.text, unknown_kind(expected));
        }
    }
}
