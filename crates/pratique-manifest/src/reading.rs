//! Reading files of objects of any kind: the same splitting, YAML and JSON as for manifests, but no rule besides.
//!
//! For what a server would be asked about, rather than configured with. As its clients do, what looks like JSON and is
//! none is read as YAML.

use crate::directory::ManifestFile;
use crate::json;
use crate::load::{FileDocument, bad_separators, documents};
use crate::parse::{Format, Parsed, parse_json, parse_yaml};
use crate::problem::{Failure, LoadErrors, Problem, Rule};
use crate::report::Report;
use crate::set::ObjectSource;

/// A document of a file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The values and their places.
    pub source: ObjectSource,
    /// The keys that it gives twice; the last value counts.
    pub duplicates: Vec<Problem>,
}

/// Reads the documents of a file, whatever they are about.
///
/// # Errors
/// Every document that is no YAML or JSON, and every separator that is none.
pub fn read_documents(file: &ManifestFile) -> Result<Vec<Document>, LoadErrors> {
    let mut failures = bad_separators(file);
    let mut found = Vec::new();
    for document in documents(file) {
        match read(&document) {
            Ok(document) => found.push(document),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        Ok(found)
    } else {
        Err(LoadErrors::new(failures))
    }
}

/// How deep values may nest, so that whoever goes through them may do so by recursion.
const MAX_DEPTH: usize = 512;

fn read(document: &FileDocument) -> Result<Document, Failure> {
    let parsed = parse(document).map_err(|report| Failure {
        text: report.text,
        problems: report.problems,
    })?;
    if parsed.tree().depth() > MAX_DEPTH {
        let text = format!("values are nested more than {MAX_DEPTH} levels deep");
        let beginning = parsed.document.source.beginning();
        let problem = Problem::new(Rule::Syntax, text.clone()).at(beginning);
        return Err(Failure::single(text, problem));
    }
    let duplicates = duplicates(&parsed);
    let source = parsed.into_source();
    Ok(Document { source, duplicates })
}

/// Parses JSON, or YAML that may look like it; the error is that of what it looks like.
fn parse(document: &FileDocument) -> Result<Parsed, Box<Report>> {
    if !json::is_json(&document.raw.bytes) {
        return parse_yaml(document.clone());
    }
    parse_json(document.clone()).or_else(|report| parse_yaml(document.clone()).map_err(|_| report))
}

fn duplicates(parsed: &Parsed) -> Vec<Problem> {
    let Format::Yaml(duplicates) = &parsed.format else {
        return Vec::new();
    };
    let problem = |duplicate: &crate::yaml::Duplicate| {
        let location = parsed.document.source.location(duplicate.span);
        Problem::new(Rule::DuplicateField, duplicate.message.clone()).at(location)
    };
    duplicates.iter().map(problem).collect()
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
        assert_eq!(twice.len(), 1);
        assert_eq!(twice[0].location.as_ref().unwrap().start.line, 8);
    }

    #[test]
    fn yaml_may_look_like_json() {
        assert_eq!(read_documents(&file("{a: [1, ]}")).unwrap().len(), 1);
        let error = read_documents(&file("{\"a\" 1, ]")).unwrap_err().to_string();
        assert!(error.contains("json parse error"), "{error}");
    }

    #[test]
    fn every_fault_is_told() {
        let errors = read_documents(&file("--- oops\na: [\n---\n{]\n")).unwrap_err();
        let rules: Vec<_> = errors.problems().map(|problem| problem.rule).collect();
        assert_eq!(rules, [Rule::DocumentSeparator, Rule::Syntax, Rule::Syntax]);
    }
}
