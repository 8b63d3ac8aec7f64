//! Decisions as `JUnit` XML: a case for each object, each error of an input and each notice.

use pratique_report::{Action, Decision};
use pratique_review::SourceFile;

use crate::arguments::{FailOn, FailureArguments};
use crate::evaluation::record::{DecisionRecord, RequestRemark};
use crate::input::sources;
use crate::output::junit::{CaseOutcome, JunitCase, JunitSuite, XmlDocument, xml};
use crate::output::notice::InputNotice;
use crate::output::problems;
use crate::stream::input_errors::JsonError;

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
    records: &[DecisionRecord],
    errors: &[JsonError],
    notices: &[InputNotice],
    sources: &[SourceFile],
    evaluated: &str,
    rule: &PassRule<'_>,
) -> XmlDocument {
    let decisions = records.iter().map(|record| of_record(record, rule));
    let errors = errors.iter().map(error_case);
    let notices = notices
        .iter()
        .map(|notice| notice.case(rule.failure.fails_on(FailOn::Warn)));
    let cases = decisions.chain(errors).chain(notices);
    let suite = JunitSuite {
        name: command.to_owned(),
        // With the release that decided.
        properties: vec![("evaluated", evaluated.to_owned())],
        cases: cases.chain(sources::cases(sources)).collect(),
    };
    xml(&format!("pratique {command}"), &[suite])
}

fn of_record(record: &DecisionRecord, rule: &PassRule<'_>) -> JunitCase {
    let remarks = record.distinct_remarks();
    let outcome = outcome(record, &remarks, rule);
    JunitCase {
        name: record.subject(),
        file: record.file.clone(),
        line: Some(record.line).filter(|line| *line > 0),
        seconds: 0.0,
        output: match outcome {
            CaseOutcome::Passed | CaseOutcome::Skipped { .. } => lines(&remarks),
            CaseOutcome::Failed { .. } | CaseOutcome::Error { .. } => String::new(),
        },
        outcome,
    }
}

/// An error of an input, which is a failed case.
pub(crate) fn error_case(error: &JsonError) -> JunitCase {
    let place = error.input_place();
    JunitCase {
        name: error.place.clone(),
        line: place.known_line(),
        file: place.file,
        seconds: 0.0,
        output: String::new(),
        outcome: CaseOutcome::Error {
            message: first_line(&error.message),
            text: error.message.clone(),
        },
    }
}

fn outcome(record: &DecisionRecord, remarks: &[RequestRemark<'_>], rule: &PassRule<'_>) -> CaseOutcome {
    let text = lines(remarks);
    match record.decision {
        Decision::Denied | Decision::Error => CaseOutcome::failed(&text),
        Decision::Accepted => {
            let mut denials = remarks.iter();
            let denial = denials.find(|remark| remark.accepted.is_some() && remark.action == Action::Deny);
            CaseOutcome::Skipped {
                message: denial.map_or_else(|| first_line(&text), |denial| first_line(&line(denial))),
            }
        }
        Decision::Undecided | Decision::Failed => CaseOutcome::Error {
            message: first_line(&text),
            text,
        },
        // Which of the actions fails is asked of all of them.
        Decision::Allowed if record.remarks().iter().any(|remark| rule.fails_for(remark)) => {
            CaseOutcome::failed(&text)
        }
        Decision::Allowed => match rule.why_unevaluated {
            Some(why) => CaseOutcome::Skipped {
                message: why.to_owned(),
            },
            None => CaseOutcome::Passed,
        },
    }
}

impl PassRule<'_> {
    /// Whether the command fails for a remark about an object that is allowed.
    fn fails_for(&self, remark: &RequestRemark<'_>) -> bool {
        match remark.action {
            _ if remark.accepted.is_some() => false,
            Action::Warn | Action::Ignore => self.failure.fails_on(FailOn::Warn),
            Action::Audit => self.failure.fails_on(FailOn::Audit),
            Action::Deny | Action::Undecided | Action::Accepted => false,
        }
    }
}

/// A line for each remark.
fn lines(remarks: &[RequestRemark<'_>]) -> String {
    let lines: Vec<String> = remarks.iter().map(line).collect();
    lines.join("\n")
}

fn line(remark: &RequestRemark<'_>) -> String {
    if let Some(location) = remark.location {
        return format!("{}: {}", problems::place(location), remark.message);
    }
    match (remark.policy, remark.action) {
        (Some(policy), _) => format!("{policy}: {}", remark.message),
        (None, Action::Warn) => format!("warning: {}", remark.message),
        (None, _) => remark.message.clone(),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
