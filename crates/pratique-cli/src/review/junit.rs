//! Decisions as `JUnit` XML: a case for each object.

use pratique_suite::SourceFile;

use super::input_errors::JsonError;
use super::record::{Decision, Record};
use crate::input::sources;
use crate::output::junit::{Case, Outcome, Suite, Xml, xml};

/// All decisions and errors of a command.
pub(super) fn of(command: &str, records: &[Record], errors: &[JsonError], sources: &[SourceFile]) -> Xml {
    let decisions = records.iter().map(|record| Case {
        name: record.subject(),
        file: record.file.clone(),
        line: Some(record.line).filter(|line| *line > 0),
        seconds: 0.0,
        outcome: outcome(record),
    });
    let errors = errors.iter().map(|error| Case {
        name: error.place.clone(),
        file: error.place.clone(),
        line: None,
        seconds: 0.0,
        outcome: Outcome::Error {
            message: first_line(&error.message),
            text: error.message.clone(),
        },
    });
    let suite = Suite {
        name: command.to_owned(),
        cases: decisions.chain(errors).chain(sources::cases(sources)).collect(),
    };
    xml(&format!("pratique {command}"), &[suite])
}

fn outcome(record: &Record) -> Outcome {
    let remarks = record.remarks();
    let text: Vec<String> = remarks
        .iter()
        .map(|remark| match remark.policy {
            Some(policy) => format!("{policy}: {}", remark.message),
            None => remark.message.clone(),
        })
        .collect();
    let text = text.join("\n");
    let message = first_line(&text);
    match record.decision {
        Decision::Allowed => Outcome::Passed,
        Decision::Denied => Outcome::Failed { message, text },
        Decision::Undecided => Outcome::Error { message, text },
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
