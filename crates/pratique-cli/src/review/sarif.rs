//! Decisions as SARIF 2.1.0: a result for each policy that denies, warns, records, or is undecided.

use std::collections::BTreeSet;

use pratique_suite::SourceFile;
use serde_json::json;

use super::decisions::Action;
use super::input_errors::JsonError;
use super::limitations::{self, Limitation};
use super::record::Record;
use crate::input::sources;
use crate::output::sarif::{Log, uri};

/// The rule of inputs that cannot be read.
const INPUT: &str = "input";
/// The rule of denials that are not those of a validating policy.
const DENIED: &str = "denied";

/// All decisions and errors, limitations, and the exit code of the command.
pub(super) fn log(
    records: &[Record],
    errors: &[JsonError],
    limitations: &[Limitation],
    sources: &[SourceFile],
    exit_code: u8,
) -> Log {
    let mut rules = BTreeSet::new();
    let mut results = Vec::new();
    for record in records {
        for remark in record.remarks() {
            let rule = remark.policy.unwrap_or(DENIED);
            rules.insert(rule.to_owned());
            let level = match remark.action {
                Some(Action::Warn) => "warning",
                Some(Action::Audit | Action::Ignore) => "note",
                Some(Action::Deny) | None => "error",
            };
            results.push(json!({
                "ruleId": rule,
                "level": level,
                "message": {"text": format!("{}: {}", record.subject(), remark.message)},
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(&record.file)},
                        "region": {"startLine": record.line.max(1), "startColumn": record.column.max(1)},
                    },
                    "logicalLocations": [{"fullyQualifiedName": record.name_in_cluster(), "kind": "object"}],
                }],
            }));
        }
    }
    for error in errors {
        rules.insert(INPUT.to_owned());
        results.push(json!({
            "ruleId": INPUT,
            "level": "error",
            "message": {"text": format!("{}: {}", error.place, error.message)},
        }));
    }
    let rules = rules.into_iter().map(|id| json!({"id": id})).collect();
    let mut notifications = limitations::notifications(limitations);
    notifications.extend(sources::notifications(sources));
    let invocation = json!({
        "executionSuccessful": errors.is_empty(),
        "exitCode": exit_code,
        "toolExecutionNotifications": notifications,
    });
    Log::new(rules, invocation, results)
}
