//! SARIF 2.1.0, for code scanning: a log with one run.

use pratique_manifest::{Edit, Location};
use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::{self, Described};
use super::finding::{Finding, Severity};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A log.
#[derive(Debug, Serialize)]
pub(crate) struct Log(Value);

impl Log {
    /// The log of a run: the rules of its results, how the command was executed, and the results.
    pub(crate) fn new(rules: Vec<Value>, invocation: Value, results: Vec<Value>) -> Self {
        Log(json!({
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
                "invocations": [invocation],
                "results": results,
            }],
        }))
    }

    /// A log of all findings, with the rules of loading and the warnings, and whether the check passes.
    pub(crate) fn of_findings(findings: &[Finding<'_>], notifications: Vec<Value>, passes: bool) -> Self {
        let described = catalog::all();
        // The check ran, regardless of its findings.
        let mut invocation = json!({"executionSuccessful": true, "exitCode": u8::from(!passes)});
        if let (Value::Object(members), false) = (&mut invocation, notifications.is_empty()) {
            members.insert("toolExecutionNotifications".to_owned(), notifications.into());
        }
        let results = findings.iter().map(|finding| result(finding, &described));
        let results = results.collect();
        Log::new(described.iter().map(rule).collect(), invocation, results)
    }
}

fn rule(described: &Described) -> Value {
    let url = catalog::url(described.name);
    json!({
        "id": described.name,
        "shortDescription": {"text": described.summary},
        "helpUri": url,
        "help": {"text": format!("{} See {url}", described.summary)},
        "defaultConfiguration": {"level": if described.is_error { "error" } else { "warning" }},
    })
}

fn result(finding: &Finding<'_>, described: &[Described]) -> Value {
    let message = match finding.help {
        Some(help) => format!("{}\n{}", finding.message, help.text),
        None => finding.message.to_owned(),
    };
    let rule = described.iter().position(|rule| rule.name == finding.name);
    let edit = finding.help.and_then(|help| help.edit.as_ref());
    let optional = [
        ("ruleIndex", rule.map(Value::from)),
        (
            "locations",
            finding.location.map(|location| json!([place(finding, location)])),
        ),
        ("fixes", edit.map(|edit| json!([fix(edit)]))),
    ];
    let mut result = json!({
        "ruleId": finding.name,
        "level": match finding.severity {
            Severity::Error | Severity::Denied => "error",
            Severity::Warning => "warning",
        },
        "message": {"text": message},
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
    result
}

fn place(finding: &Finding<'_>, location: &Location) -> Value {
    let physical = json!({"artifactLocation": artifact(location), "region": region(location)});
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
            "artifactLocation": artifact(&edit.location),
            "replacements": [{
                "deletedRegion": region(&edit.location),
                "insertedContent": {"text": edit.replacement},
            }],
        }],
    })
}

fn artifact(location: &Location) -> Value {
    json!({"uri": uri(&location.file)})
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

/// A path as a reference: relative ones stay so, others become `file:` URIs.
pub(crate) fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.trim_start_matches("./").bytes() {
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
    use super::uri;

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
