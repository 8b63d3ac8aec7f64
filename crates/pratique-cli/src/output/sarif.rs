//! SARIF 2.1.0, for code scanning: a log with one run, with the rules of loading and the warnings.

use pratique_manifest::{Edit, Location};
use serde::Serialize;

use super::catalog::{self, Described};
use super::finding::{Finding, Severity};

pub(crate) const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A log.
#[derive(Debug, Serialize)]
pub(crate) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    /// Columns count characters, not the units of UTF-16.
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<SarifResult>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    /// Whether the check ran, regardless of its findings.
    execution_successful: bool,
    exit_code: u8,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<SarifRule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: &'static str,
    short_description: Text,
    help_uri: String,
    help: Text,
    default_configuration: Configuration,
}

#[derive(Debug, Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Debug, Serialize)]
struct Text {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Place>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
    properties: Properties,
}

/// A change that does what the help says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix {
    description: Text,
    artifact_changes: [ArtifactChange; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    replacements: [Replacement; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

/// Whether a result is the error that the server reports.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    stops_server: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Debug, Serialize)]
struct ArtifactLocation {
    uri: String,
}

/// The end is exclusive, as that of a location is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    byte_offset: usize,
    byte_length: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

impl Log {
    /// A log of all findings, and whether the check passes.
    pub(crate) fn new(findings: &[Finding<'_>], passes: bool) -> Self {
        let described = catalog::all();
        Log {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [Run {
                results: findings
                    .iter()
                    .map(|finding| result(finding, &described))
                    .collect(),
                column_kind: "unicodeCodePoints",
                invocations: [Invocation {
                    execution_successful: true,
                    exit_code: u8::from(!passes),
                }],
                tool: Tool {
                    driver: driver(&described),
                },
            }],
        }
    }
}

fn driver(described: &[Described]) -> Driver {
    let rule = |described: &Described| SarifRule {
        id: described.name,
        short_description: text(described.summary),
        help_uri: catalog::url(described.name),
        help: text(&format!(
            "{} See {}",
            described.summary,
            catalog::url(described.name)
        )),
        default_configuration: Configuration {
            level: if described.is_error { "error" } else { "warning" },
        },
    };
    Driver {
        name: "pratique",
        semantic_version: env!("CARGO_PKG_VERSION"),
        information_uri: env!("CARGO_PKG_REPOSITORY"),
        rules: described.iter().map(rule).collect(),
    }
}

fn result(finding: &Finding<'_>, described: &[Described]) -> SarifResult {
    let message = match finding.help {
        Some(help) => format!("{}\n{}", finding.message, help.text),
        None => finding.message.to_owned(),
    };
    let name = finding.object.map(|object| {
        let field = finding.field.map(|field| format!(".{field}")).unwrap_or_default();
        LogicalLocation {
            fully_qualified_name: format!("{}/{}{field}", object.kind, object.name),
            kind: "object",
        }
    });
    let place = |location: &Location| Place {
        physical_location: PhysicalLocation {
            artifact_location: artifact(location),
            region: region(location),
        },
        logical_locations: name.into_iter().collect(),
    };
    SarifResult {
        rule_id: finding.name,
        rule_index: described.iter().position(|rule| rule.name == finding.name),
        level: match finding.severity {
            Severity::Error | Severity::Denied => "error",
            Severity::Warning => "warning",
        },
        message: Text { text: message },
        locations: finding.location.map(place).into_iter().collect(),
        fixes: finding
            .help
            .and_then(|help| help.edit.as_ref())
            .map(fix)
            .into_iter()
            .collect(),
        properties: Properties {
            stops_server: finding.stops_server,
        },
    }
}

fn fix(edit: &Edit) -> Fix {
    Fix {
        description: text(&edit.to_string()),
        artifact_changes: [ArtifactChange {
            artifact_location: artifact(&edit.location),
            replacements: [Replacement {
                deleted_region: region(&edit.location),
                inserted_content: text(&edit.replacement),
            }],
        }],
    }
}

fn artifact(location: &Location) -> ArtifactLocation {
    ArtifactLocation {
        uri: uri(&location.file),
    }
}

fn region(location: &Location) -> Region {
    Region {
        start_line: location.start.line.max(1),
        start_column: location.start.column.max(1),
        end_line: location.end.line.max(1),
        end_column: location.end.column.max(1),
        byte_offset: location.start.offset,
        byte_length: location.end.offset.saturating_sub(location.start.offset),
    }
}

fn text(text: &str) -> Text {
    Text {
        text: text.to_owned(),
    }
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
