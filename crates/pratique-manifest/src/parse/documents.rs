//! Reads files of objects of any kind: split and parsed like manifests, but not decoded or validated.
//!
//! This is for objects of requests rather than configuration. Like clients of a server, it reads as YAML what looks like JSON
//! and is not.

use pratique_gotext::strconv::quote;

use super::file_document::{FileDocument, bad_separators, documents};
use super::json_stream::JsonStream;
use super::source::ObjectSource;
use super::{DocumentFormat, ParsedContent, parse_yaml, parsed_json, refused_json};
use crate::budget::Budget;
use crate::json;
use crate::position::Span;
use crate::problem::{Failure, LoadErrors, Problem, Rule};
use crate::read::directory::ManifestFile;
use crate::tree::TreeValue;

/// A document of a file.
#[derive(Clone, Debug)]
pub struct SourceDocument {
    /// The values and their places.
    pub source: ObjectSource,
    /// The keys that are written twice in a mapping; the last value counts, and the source has no other. Keys that override
    /// those of a merge key are none. Clients send what they decoded of a file, with the last value alone, so that no server
    /// sees either.
    // Upstream: apimachinery/pkg/util/yaml/decoder.go, YAMLToJSONDecoder.Decode, which is not strict, and
    // apimachinery/pkg/apis/meta/v1/unstructured/helpers.go, unstructuredJSONScheme.Decode
    pub duplicates: Vec<Problem>,
}

/// The contents of a file.
#[derive(Debug, Default)]
pub struct FileContents {
    /// The documents that can be read.
    pub documents: Vec<SourceDocument>,
    /// Parts that cannot be read: each failure is one document, or one part of the text outside of documents.
    pub errors: LoadErrors,
}

/// Reads the documents of a file, of any kind.
///
/// # Errors
/// Every document that does not parse, every invalid separator, and all text outside of documents.
pub fn read_documents(file: &ManifestFile) -> Result<Vec<SourceDocument>, LoadErrors> {
    let FileContents { documents, errors } = read_contents(file);
    match errors.failures() {
        [] => Ok(documents),
        _ => Err(errors),
    }
}

/// Reads the documents of a file, of any kind, and skips those that cannot be read. All text is in a document or in the
/// errors.
///
/// Documents are separated by lines of `---`. JSON needs no separator: values may follow each other, on lines of their
/// own or not.
pub fn read_contents(file: &ManifestFile) -> FileContents {
    let mut reader = DocumentReader::new(Budget::for_text(file.content.len()));
    for failure in bad_separators(file) {
        reader.fail(failure);
    }
    for chunk in documents(file) {
        if reader.is_full() {
            reader.give_up(chunk);
            break;
        }
        if json::is_json(&chunk.raw.bytes) {
            reader.json(&chunk)
        } else {
            reader.yaml(chunk)
        }
    }
    FileContents {
        documents: reader.documents,
        errors: LoadErrors::new(reader.failures),
    }
}

/// How deep values may nest, so that they can be processed by recursion.
const MAX_DEPTH: usize = 512;

/// After how many failures the rest of a file is not read.
const MAX_FAILURES: usize = 1000;

const AFTER_THE_END: &str =
    "the document ends before this, which is not read: a line of `---` begins another document";

/// The documents and failures so far.
struct DocumentReader {
    budget: Budget,
    documents: Vec<SourceDocument>,
    failures: Vec<Failure>,
    /// How many documents were read or failed.
    count: usize,
}

impl DocumentReader {
    fn new(budget: Budget) -> Self {
        DocumentReader {
            budget,
            documents: Vec::new(),
            failures: Vec::new(),
            count: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.failures.len() >= MAX_FAILURES
    }

    fn fail(&mut self, failure: Failure) {
        if !self.is_full() {
            self.failures.push(failure);
        }
    }

    fn give_up(&mut self, rest: FileDocument) {
        let text = format!("the file has more than {MAX_FAILURES} errors: from here on it is not read");
        let source = rest.into_source();
        let problem = Problem::new(Rule::Syntax, text).at(source.location(source.line_span(1)));
        self.failures.push(problem.into());
    }

    fn yaml(&mut self, chunk: FileDocument) {
        let chunk = self.counted(chunk);
        let parsed = parse_yaml(chunk, &self.budget);
        self.take(parsed);
    }

    /// Reads JSON values that follow each other. As clients do, text that looks like JSON and is none is read as YAML.
    fn json(&mut self, chunk: &FileDocument) {
        let budget = self.budget.clone();
        let mut stream = JsonStream::new(chunk, &budget);
        while let Some((part, value)) = stream.next() {
            match value {
                Ok(value) => {
                    let parsed = parsed_json(self.counted(part), value, &budget);
                    self.take(Ok(parsed));
                }
                Err(_) if self.is_full() => {
                    self.give_up(part);
                    return;
                }
                Err(error) => {
                    let part = self.counted(part);
                    match parse_yaml(part.clone(), &budget) {
                        Ok(parsed) if is_one_mapping(&parsed) => self.take(Ok(parsed)),
                        _ if stream.recover() => self.count -= 1,
                        // It is the client that says this, whose release is not known.
                        _ => self.take(Err(refused_json(part, error.offset, &error.message))),
                    }
                }
            }
        }
    }

    /// The next document, with its place in the file.
    fn counted(&mut self, document: FileDocument) -> FileDocument {
        let index = self.count;
        self.count += 1;
        FileDocument { index, ..document }
    }

    fn take(&mut self, parsed: Result<ParsedContent, Box<Failure>>) {
        let mut parsed = match parsed {
            Ok(parsed) => parsed,
            Err(failure) => return self.fail(*failure),
        };
        if let Some(rest) = parsed.rest_location() {
            let problem = Problem::new(Rule::Syntax, AFTER_THE_END).at(rest);
            self.fail(problem.into());
        }
        if parsed.tree().depth() > MAX_DEPTH {
            let text = format!("values are nested more than {MAX_DEPTH} levels deep");
            let problem = Problem::new(Rule::Syntax, text).at(parsed.document.source.beginning());
            return self.fail(problem.into());
        }
        let duplicates = remove_duplicates(&mut parsed);
        self.documents.push(SourceDocument {
            source: parsed.into_source(),
            duplicates,
        });
    }
}

/// Whether a document is a mapping without text after it.
fn is_one_mapping(parsed: &ParsedContent) -> bool {
    let root = &parsed.tree().get(parsed.root).value;
    parsed.rest.is_none() && matches!(root, TreeValue::Map(_))
}

/// Removes the keys that are written twice, of which YAML's are removed while it is parsed; returns them.
fn remove_duplicates(parsed: &mut ParsedContent) -> Vec<Problem> {
    let repeated: Vec<(String, Span)> = match &parsed.format {
        DocumentFormat::Yaml(duplicates) => {
            let written = duplicates.iter().filter(|duplicate| !duplicate.is_merged);
            written
                .map(|duplicate| (duplicate.message.clone(), duplicate.span))
                .collect()
        }
        DocumentFormat::Json => {
            let repeated = parsed.tree.remove_duplicates();
            let message = |key: &str| format!("key {} already set in map", quote(key));
            repeated
                .into_iter()
                .map(|(key, span)| (message(&key), span))
                .collect()
        }
    };
    let source = &parsed.document.source;
    let problem = |(message, span)| Problem::new(Rule::DuplicateField, message).at(source.location(span));
    repeated.into_iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &str) -> ManifestFile {
        ManifestFile {
            path: "pods.yaml".to_owned(),
            content: content.as_bytes().to_vec(),
        }
    }

    #[test]
    fn documents_of_any_kind_are_read() {
        let documents = read_documents(&file(
            "a: 1\n---\n# only a comment\n---\n{\"b\": 2, \"b\": 3}\n---\nc: 1\nc: 2\n",
        ));
        let documents = documents.unwrap();
        let lines: Vec<_> = documents
            .iter()
            .map(|document| document.source.locate(&[]).start.line)
            .collect();
        assert_eq!(lines, [1, 3, 5, 7]);
        let twice: Vec<_> = documents
            .iter()
            .flat_map(|document| &document.duplicates)
            .collect();
        let twice: Vec<_> = twice
            .iter()
            .map(|problem| (&*problem.message, problem.location.as_ref().unwrap().start.line))
            .collect();
        assert_eq!(
            twice,
            [
                ("key \"b\" already set in map", 5),
                ("key \"c\" already set in map", 8)
            ]
        );
    }

    #[test]
    fn what_overrides_a_merge_key_is_no_duplicate_to_clients() {
        for (mapping, expected) in [
            ("{<<: *l, app: b}", 0),
            ("{app: b, <<: *l}", 0),
            ("{<<: [*l, {app: c}], other: b}", 0),
            ("{<<: *l, app: b, app: c}", 1),
            ("{app: b, app: c}", 1),
            ("{<<: *l, other: b}", 0),
        ] {
            let text = format!("---\nl: &l {{app: a}}\nm: {mapping}\n");
            let documents = read_documents(&file(&text)).unwrap();
            let duplicates: Vec<&Problem> = documents
                .iter()
                .flat_map(|document| &document.duplicates)
                .collect();
            assert_eq!(duplicates.len(), expected, "{mapping}");
            for duplicate in duplicates {
                assert_eq!(duplicate.location.as_ref().unwrap().start.line, 3, "{mapping}");
            }
        }
    }

    #[test]
    fn yaml_may_look_like_json() {
        assert_eq!(read_documents(&file("{a: [1, ]}")).unwrap().len(), 1);
        let error = read_documents(&file("{\"a\" 1, ]")).unwrap_err().to_string();
        assert!(error.contains("json parse error"), "{error}");
    }

    #[track_caller]
    fn check(content: &str, documents: &[&str], errors: &[&str]) {
        let contents = read_contents(&file(content));
        let place = |location: &crate::position::Location| {
            let start = location.start;
            format!(
                "{}:{}:{}:{}",
                location.document, start.line, start.column, start.offset
            )
        };
        let found = contents.documents.iter().map(|document| {
            let text = document.source.document().as_str();
            format!("{} {text}", place(&document.source.document().beginning()))
        });
        assert_eq!(found.collect::<Vec<_>>(), documents);
        let found = contents.errors.problems().map(|problem| {
            let place = problem.location.as_ref().map(place).unwrap_or_default();
            format!("{place} {}", problem.message)
        });
        assert_eq!(found.collect::<Vec<_>>(), errors);
    }

    #[test]
    fn json_needs_no_separators() {
        check(
            "{\"a\": 1}\n{\"b\":\n  2}{\"é\": 3} {\"c\": 4}\n---\n\n {\"d\": 5}\n",
            &[
                "0:1:1:0 {\"a\": 1}",
                "1:2:1:9 {\"b\":\n  2}",
                "2:3:5:19 {\"é\": 3}",
                "3:3:14:29 {\"c\": 4}",
                "4:6:2:44 {\"d\": 5}",
            ],
            &[],
        );
    }

    #[test]
    fn a_broken_value_costs_no_other() {
        check(
            "{\"a\": 1}\n{\"b\": \n{\"c\": 3}\n{\"d\" 4} {\"e\": 5}\n{f: 6}\n{\"g\": 7}\n",
            &[
                "0:1:1:0 {\"a\": 1}",
                "2:3:1:16 {\"c\": 3}",
                "4:5:1:42 {f: 6}",
                "5:6:1:49 {\"g\": 7}",
            ],
            &[
                "1:2:6:14 unexpected end of JSON input",
                "3:4:6:30 invalid character '4' after object key",
            ],
        );
        check(
            "{\"a\" 1}\n---\nb: [\n---\nc: 3\n",
            &["2:5:1:21 c: 3"],
            &[
                "0:1:6:5 invalid character '1' after object key",
                "1:3:5:16 yaml: line 1: did not find expected node content",
            ],
        );
    }

    #[test]
    fn yaml_may_follow_json() {
        check("{\"a\": 1}\nb: 2\n", &["0:1:1:0 {\"a\": 1}", "1:2:1:9 b: 2"], &[]);
    }

    #[test]
    fn what_follows_a_document_is_told() {
        let after = |place: &str| format!("{place} {AFTER_THE_END}");
        check(
            "a: 1\n... # end\n\n# nothing\n...\n",
            &["0:1:1:0 a: 1\n... # end\n\n# nothing\n..."],
            &[],
        );
        check(
            "a: 1\n...\n\n  b: 2\n",
            &["0:1:1:0 a: 1\n...\n\n  b: 2"],
            &[&after("0:4:3:12")],
        );
        check("[a]\n{b: 2}\n", &["0:1:1:0 [a]\n{b: 2}"], &[&after("0:2:1:4")]);
        check(
            "{a: 1}\n}\n",
            &[],
            &["0:1:2:1 invalid character 'a' looking for beginning of object key string"],
        );
    }

    #[test]
    fn hopeless_files_are_given_up() {
        for line in [
            "{\n",
            "{\"a\":[\n",
            "---- x\n",
            "---\na: [\n",
            "---\na: 1\n...\nb\n",
            "{\"a\":1} x\n",
        ] {
            let contents = read_contents(&file(&line.repeat(20_000)));
            assert_eq!(contents.errors.failures().len(), MAX_FAILURES + 1, "{line:?}");
            assert!(
                contents
                    .errors
                    .problems()
                    .last()
                    .unwrap()
                    .message
                    .contains("more than 1000")
            );
        }
    }

    #[test]
    fn every_fault_is_told() {
        let errors = read_documents(&file("--- oops\na: [\n---\n{]\n")).unwrap_err();
        let rules: Vec<_> = errors.problems().map(|problem| problem.rule).collect();
        assert_eq!(rules, [Rule::DocumentSeparator, Rule::Syntax, Rule::Syntax]);
    }
}
