//! Decisions as `JUnit` XML: a case for each object, each error of an input and each notice.

use pratique_review::SourceFile;

use crate::arguments::{FailOn, FailureArguments};
use crate::evaluation::decision::Decision;
use crate::evaluation::record::{Record, Remark};
use crate::input::sources;
use crate::output::junit::{Case, Outcome, Suite, Xml, xml};
use crate::output::notice::Notice;
use crate::output::problems;
use crate::stream::input_errors::JsonError;
use pratique_review::PolicyAction as Action;

/// Why nothing passes where nothing could have refused it.
pub(crate) const NOTHING_REFUSES: &str = "no policy and no webhook is evaluated";

/// What makes an allowed object one that passes.
pub(crate) struct PassRule<'a> {
    /// What the command fails for.
    pub(crate) failure: &'a FailureArguments,
    /// Why nothing passes, if nothing can: what should have been evaluated was not.
    pub(crate) why_unevaluated: Option<&'static str>,
}

/// All decisions, errors and notices of a command, and the files that it did not evaluate.
pub(crate) fn evaluation_document(
    command: &str,
    records: &[Record],
    errors: &[JsonError],
    notices: &[Notice],
    sources: &[SourceFile],
    rule: &PassRule<'_>,
) -> Xml {
    let decisions = records.iter().map(|record| of_record(record, rule));
    let errors = errors.iter().map(error_case);
    let notices = notices
        .iter()
        .map(|notice| notice.case(rule.failure.fails_on(FailOn::Warn)));
    let cases = decisions.chain(errors).chain(notices);
    let suite = Suite {
        name: command.to_owned(),
        cases: cases.chain(sources::cases(sources)).collect(),
    };
    xml(&format!("pratique {command}"), &[suite])
}

fn of_record(record: &Record, rule: &PassRule<'_>) -> Case {
    let remarks = record.distinct_remarks();
    let outcome = outcome(record, &remarks, rule);
    Case {
        name: record.subject(),
        file: record.file.clone(),
        line: Some(record.line).filter(|line| *line > 0),
        seconds: 0.0,
        output: match outcome {
            Outcome::Passed | Outcome::Skipped { .. } => lines(&remarks),
            Outcome::Failed { .. } | Outcome::Error { .. } => String::new(),
        },
        outcome,
    }
}

/// An error of an input, which is a failed case.
pub(crate) fn error_case(error: &JsonError) -> Case {
    let place = error.input_place();
    Case {
        name: error.place.clone(),
        line: place.known_line(),
        file: place.file,
        seconds: 0.0,
        output: String::new(),
        outcome: Outcome::Error {
            message: first_line(&error.message),
            text: error.message.clone(),
        },
    }
}

fn outcome(record: &Record, remarks: &[Remark<'_>], rule: &PassRule<'_>) -> Outcome {
    let text = lines(remarks);
    match record.decision {
        Decision::Denied => Outcome::failed(&text),
        Decision::Accepted => {
            let mut denials = remarks.iter();
            let denial =
                denials.find(|remark| remark.accepted.is_some() && remark.action == Some(Action::Deny));
            Outcome::Skipped {
                message: denial.map_or_else(|| first_line(&text), |denial| first_line(&line(denial))),
            }
        }
        Decision::Undecided => Outcome::Error {
            message: first_line(&text),
            text,
        },
        // Which of the actions fails is asked of all of them.
        Decision::Allowed if record.remarks().iter().any(|remark| rule.fails_for(remark)) => {
            Outcome::failed(&text)
        }
        Decision::Allowed => match rule.why_unevaluated {
            Some(why) => Outcome::Skipped {
                message: why.to_owned(),
            },
            None => Outcome::Passed,
        },
    }
}

impl PassRule<'_> {
    /// Whether the command fails for a remark about an object that is allowed.
    fn fails_for(&self, remark: &Remark<'_>) -> bool {
        match remark.action {
            _ if remark.accepted.is_some() => false,
            Some(Action::Warn | Action::Ignore) => self.failure.fails_on(FailOn::Warn),
            Some(Action::Audit) => self.failure.fails_on(FailOn::Audit),
            Some(Action::Deny) | None => false,
        }
    }
}

/// A line for each remark.
fn lines(remarks: &[Remark<'_>]) -> String {
    let lines: Vec<String> = remarks.iter().map(line).collect();
    lines.join("\n")
}

fn line(remark: &Remark<'_>) -> String {
    if let Some(location) = remark.location {
        return format!("{}: {}", problems::place(location), remark.message);
    }
    match (remark.policy, remark.action) {
        (Some(policy), _) => format!("{policy}: {}", remark.message),
        (None, Some(Action::Warn)) => format!("warning: {}", remark.message),
        (None, _) => remark.message.clone(),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
