//! SARIF 2.1.0, for code scanning: a log with one run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use pratique_manifest::{Edit, Location};
use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::{self, DescribedRule};
use super::counted_nouns::counted;
use super::finding::{AnnotationLevel, OutputFinding};
use super::notice::{self, BASELINE_GONE, InputNotice};
use super::place::{InputPlace, repository_path};
use crate::input::standard_input::STDIN_NAME;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The most characters of a rule's description.
const MAX_DESCRIPTION: usize = 1024;

/// A log, and what it leaves out.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct SarifLog {
    value: Value,
    /// Messages about results that are left out, or not shown by who reads it.
    #[serde(skip)]
    omissions: Vec<String>,
}

/// How much of a log is taken by GitHub, which refuses the whole of one that has more.
// https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support: a run has at most 25,000
// results, of which 5,000 are shown, and 25,000 rules; a result has at most 1,000 places; a file has at most 20 runs, and
// 10 MB in compressed form.
#[derive(Clone, Copy, Debug)]
struct UploadLimits {
    results: usize,
    /// How many of the results are shown, the gravest of them.
    shown: usize,
    /// How many bytes the results have in compressed form, with room for what stands around them.
    compressed: u64,
}

const UPLOAD: UploadLimits = UploadLimits {
    results: 25_000,
    shown: 5_000,
    compressed: 9_000_000,
};

/// How a command was executed.
#[derive(Clone, Debug)]
pub(crate) struct SarifInvocation {
    /// Whether it did what it was to do, regardless of what it found.
    pub(crate) is_successful: bool,
    pub(crate) exit_code: u8,
    /// What it tells besides results.
    pub(crate) notifications: Vec<(AnnotationLevel, String)>,
}

/// A result: each is of a rule and about a place, as GitHub takes no other.
#[derive(Clone, Debug)]
pub(crate) struct LogResult {
    rule: String,
    level: AnnotationLevel,
    json: Value,
}

impl LogResult {
    /// A result about a place, and about an object there, if it is known.
    pub(crate) fn new(
        rule: &str,
        level: AnnotationLevel,
        message: &str,
        place: &InputPlace,
        object: Option<&str>,
    ) -> Self {
        let mut location = json!({
            "physicalLocation": {
                "artifactLocation": {"uri": uri(&place.file)},
                "region": {"startLine": place.line.max(1), "startColumn": place.column.max(1)},
            },
        });
        if let (Some(object), Value::Object(members)) = (object, &mut location) {
            let names = json!([{"fullyQualifiedName": object, "kind": "object"}]);
            members.insert("logicalLocations".to_owned(), names);
        }
        LogResult {
            rule: rule.to_owned(),
            level,
            json: json!({
                "ruleId": rule,
                "level": level.of_sarif(),
                "message": {"text": message},
                "locations": [location],
            }),
        }
    }

    /// The result with a reason for which it is accepted.
    pub(crate) fn suppressed(self, why: &str) -> Self {
        self.with(
            "suppressions",
            json!([{"kind": "external", "status": "accepted", "justification": why}]),
        )
    }

    /// The result with how it differs from a baseline: `new`, `unchanged` or `absent`.
    pub(crate) fn in_baseline(self, state: &str) -> Self {
        self.with("baselineState", state.into())
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        if let Value::Object(members) = &mut self.json {
            members.insert(name.to_owned(), value);
        }
        self
    }

    /// The result for a notice.
    pub(crate) fn of_notice(notice: &InputNotice) -> Self {
        let place = notice.input_place();
        let result = LogResult::new(&notice.rule, notice.level(), &notice.message, &place, None);
        if notice.rule == BASELINE_GONE {
            result.in_baseline("absent")
        } else {
            result
        }
    }
}

impl SarifLog {
    /// The log of a run: how the command was executed, and the results, of whose rules `describe` gives a short text.
    pub(crate) fn new(
        describe: impl Fn(&str) -> String,
        invocation: SarifInvocation,
        results: Vec<LogResult>,
    ) -> Self {
        let (results, omissions) = bounded(results, UPLOAD);
        let rules: BTreeMap<&str, Value> = results
            .iter()
            .map(|result| {
                (
                    result.rule.as_str(),
                    rule_of(&result.rule, &describe(&result.rule)),
                )
            })
            .collect();
        let rules = rules.into_values().collect();
        SarifLog::of_run(rules, invocation, results, omissions)
    }

    /// A log of all findings and notices, with the rules of loading and the warnings, and whether the check passes.
    pub(crate) fn of_findings(
        findings: &[OutputFinding<'_>],
        notices: &[InputNotice],
        notifications: Vec<(AnnotationLevel, String)>,
        passes: bool,
    ) -> Self {
        let described = catalog::list_rules();
        // The check ran, regardless of its findings.
        let invocation = SarifInvocation {
            is_successful: true,
            exit_code: u8::from(!passes),
            notifications,
        };
        let results = findings.iter().map(|finding| result(finding, &described));
        let results = results.chain(notices.iter().map(LogResult::of_notice));
        let (results, omissions) = bounded(results.collect(), UPLOAD);
        // Those of findings come first, which name their rules by number.
        let of_notices: BTreeSet<&str> = notices.iter().map(|notice| notice.rule.as_str()).collect();
        let of_notices = of_notices
            .into_iter()
            .map(|rule| rule_of(rule, notice::description(rule).unwrap_or(rule)));
        SarifLog::of_run(
            described.iter().map(rule).chain(of_notices).collect(),
            invocation,
            results,
            omissions,
        )
    }

    fn of_run(
        rules: Vec<Value>,
        invocation: SarifInvocation,
        results: Vec<LogResult>,
        omissions: Vec<String>,
    ) -> Self {
        let results: Vec<Value> = results.into_iter().map(|result| result.json).collect();
        let value = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "pratique",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules,
                }},
                // Columns count characters, not the units of UTF-16.
                "columnKind": "unicodeCodePoints",
                "invocations": [invocation.json(&omissions)],
                "results": results,
            }],
        });
        SarifLog { value, omissions }
    }

    /// Whether a result is of standard input, which is no file of a change.
    pub(crate) fn names_stdin(&self) -> bool {
        let stdin = uri(STDIN_NAME);
        let results = self.value.pointer("/runs/0/results").and_then(Value::as_array);
        results.into_iter().flatten().any(|result| {
            let at = result.pointer("/locations/0/physicalLocation/artifactLocation/uri");
            at.is_some_and(|at| *at == *stdin)
        })
    }

    /// Messages about results that are left out, or not shown by who reads the log.
    pub(crate) fn omissions(&self) -> &[String] {
        &self.omissions
    }
}

impl SarifInvocation {
    fn json(self, omissions: &[String]) -> Value {
        let omissions = omissions
            .iter()
            .map(|message| (AnnotationLevel::Warning, message.clone()));
        let all = self.notifications.into_iter().chain(omissions);
        let all: Vec<Value> = all
            .map(|(level, message)| json!({"level": level.of_sarif(), "message": {"text": message}}))
            .collect();
        json!({
            "executionSuccessful": self.is_successful,
            "exitCode": self.exit_code,
            "toolExecutionNotifications": all,
        })
    }
}

/// The results that fit into an upload, and messages about those that do not: the gravest stay, otherwise in their order.
fn bounded(mut results: Vec<LogResult>, limits: UploadLimits) -> (Vec<LogResult>, Vec<String>) {
    let count = results.len();
    let mut omissions = Vec::new();
    if count > limits.results {
        results.sort_by_key(|result| result.level);
        results.truncate(limits.results);
    }
    if fitting(&results, limits.compressed) < results.len() {
        results.sort_by_key(|result| result.level);
        results.truncate(fitting(&results, limits.compressed));
    }
    let more = count.saturating_sub(results.len());
    if more > 0 {
        omissions.push(format!(
            "{} not in this output: GitHub takes no more than {} and 10 MB in compressed form",
            counted(more, "more result is", "more results are"),
            counted(limits.results, "result", "results")
        ));
    }
    if results.len() > limits.shown {
        omissions.push(format!(
            "of {} GitHub shows the {} gravest",
            counted(results.len(), "result", "results"),
            limits.shown
        ));
    }
    (results, omissions)
}

/// How many results, from the first, have no more than some bytes in compressed form.
fn fitting(results: &[LogResult], most: u64) -> usize {
    let mut compressed = CompressedSize::new();
    let first = results
        .iter()
        .position(|result| compressed.add(&result.json) > most);
    first.unwrap_or(results.len())
}

/// How many bytes JSON has in compressed form.
struct CompressedSize(GzEncoder<ByteCount>);

#[derive(Default)]
struct ByteCount(u64);

impl CompressedSize {
    fn new() -> Self {
        // The fastest compresses least, so that an upload is not larger than what is counted.
        CompressedSize(GzEncoder::new(ByteCount::default(), Compression::fast()))
    }

    /// Adds a value, and gives how many bytes all of them have.
    fn add(&mut self, value: &Value) -> u64 {
        // Counting cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
        self.0.get_ref().0
    }
}

impl Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn rule_of(id: &str, description: &str) -> Value {
    let description: String = description.chars().take(MAX_DESCRIPTION).collect();
    json!({
        "id": id,
        "shortDescription": {"text": description},
        "fullDescription": {"text": description},
        "help": {"text": description},
    })
}

fn rule(described: &DescribedRule) -> Value {
    let url = catalog::url(described.name);
    json!({
        "id": described.name,
        "shortDescription": {"text": described.summary},
        "fullDescription": {"text": described.summary},
        "helpUri": url,
        "help": {"text": format!("{} See {url}", described.summary)},
        "defaultConfiguration": {"level": if described.is_error { "error" } else { "warning" }},
    })
}

fn result(finding: &OutputFinding<'_>, described: &[DescribedRule]) -> LogResult {
    let message = match finding.help {
        Some(help) => format!("{}\n{}", finding.message, help.text),
        None => finding.message.to_owned(),
    };
    let rule = described.iter().position(|rule| rule.name == finding.name);
    let edit = finding.help.and_then(|help| help.edit.as_ref());
    let optional = [
        ("ruleIndex", rule.map(Value::from)),
        ("fixes", edit.map(|edit| json!([fix(edit)]))),
    ];
    let level = AnnotationLevel::from(finding.severity);
    let mut result = json!({
        "ruleId": finding.name,
        "level": level.of_sarif(),
        "message": {"text": message},
        "locations": [place(finding)],
        // Whether it is the error that the server reports.
        "properties": {"stopsServer": finding.stops_server},
    });
    if let Value::Object(members) = &mut result {
        members.extend(
            optional
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?))),
        );
    }
    LogResult {
        rule: finding.name.to_owned(),
        level,
        json: result,
    }
}

fn place(finding: &OutputFinding<'_>) -> Value {
    let artifact = json!({"uri": uri(finding.file())});
    let physical = match finding.location {
        Some(location) => json!({"artifactLocation": artifact, "region": region(location)}),
        None => json!({"artifactLocation": artifact, "region": {"startLine": 1, "startColumn": 1}}),
    };
    match finding.object {
        Some(object) => {
            let field = finding.field.map(|field| format!(".{field}")).unwrap_or_default();
            let name = format!("{}/{}{field}", object.kind, object.name);
            let logical = json!([{"fullyQualifiedName": name, "kind": "object"}]);
            json!({"physicalLocation": physical, "logicalLocations": logical})
        }
        None => json!({"physicalLocation": physical}),
    }
}

/// A change that does what the help says.
fn fix(edit: &Edit) -> Value {
    json!({
        "description": {"text": edit.to_string()},
        "artifactChanges": [{
            "artifactLocation": {"uri": uri(&edit.location.file)},
            "replacements": [{
                "deletedRegion": region(&edit.location),
                "insertedContent": {"text": edit.replacement},
            }],
        }],
    })
}

/// The end is exclusive, as that of a location is.
fn region(location: &Location) -> Value {
    let Location { start, end, .. } = location;
    json!({
        "startLine": start.line.max(1),
        "startColumn": start.column.max(1),
        "endLine": end.line.max(1),
        "endColumn": end.column.max(1),
        "byteOffset": start.offset,
        "byteLength": end.offset.saturating_sub(start.offset),
    })
}

/// A path as a reference: relative ones stay so, others become `file:` URIs. Without a path it is the working directory.
fn uri(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in repository_path(path).bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(count: usize) -> Vec<LogResult> {
        let level = |index| {
            if index % 3 == 2 {
                AnnotationLevel::Error
            } else {
                AnnotationLevel::Warning
            }
        };
        let place = InputPlace::parse("a.yaml:3:7");
        (0..count)
            .map(|index| LogResult::new("rule", level(index), &index.to_string(), &place, None))
            .collect()
    }

    #[test]
    fn the_gravest_results_stay() {
        let limits = UploadLimits {
            results: 3,
            shown: 2,
            compressed: u64::MAX,
        };
        let (kept, omissions) = bounded(results(7), limits);
        let messages = kept
            .iter()
            .map(|result| result.json["message"]["text"].as_str().unwrap_or_default());
        assert_eq!(messages.collect::<Vec<_>>(), ["2", "5", "0"]);
        assert_eq!(
            omissions,
            [
                "4 more results are not in this output: GitHub takes no more than 3 results and 10 MB in compressed form",
                "of 3 results GitHub shows the 2 gravest"
            ]
        );
        let (kept, omissions) = bounded(results(2), limits);
        assert_eq!((kept.len(), omissions), (2, Vec::new()));
    }

    #[test]
    fn a_log_fits_into_an_upload() {
        let limits = UploadLimits {
            compressed: 40_000,
            ..UPLOAD
        };
        let (kept, omissions) = bounded(results(20_000), limits);
        assert!(kept.len() < 20_000 && kept.len() > 1_000, "{}", kept.len());
        assert!(
            kept.iter()
                .take(1_000)
                .all(|result| result.level == AnnotationLevel::Error)
        );
        assert!(
            omissions
                .iter()
                .any(|message| message.contains("not in this output"))
        );
    }

    #[test]
    fn paths_are_references() {
        for (path, expected) in [
            ("policies/a b.yaml", "policies/a%20b.yaml"),
            ("./a.yaml", "a.yaml"),
            ("/etc/a:b.yaml", "file:///etc/a%3Ab.yaml"),
            ("é#?%", "%C3%A9%23%3F%25"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }
}
