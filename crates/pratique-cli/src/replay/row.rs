//! A request of a log with what happened then and what policies decide now.

use pratique_arrow::ResultRow;
use pratique_replay::{RecordedOutcome, RequestApproximation, UnknownRequest};
use pratique_report::Evaluation;
use serde::Serialize;

use super::comparison::DecisionComparison;
use super::decision::ReplayDecision;
use super::subject::RequestSubject;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::style::{StreamStyle, TextTone};

/// A request of a log with what happened then and what policies decide now.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplayRow {
    pub(super) file: String,
    pub(super) line: u32,
    #[serde(skip)]
    pub(super) place: String,
    /// The `auditID`, or the uid of a recorded request.
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) subject: RequestSubject,
    pub(super) comparison: DecisionComparison,
    pub(super) then: JsonThen,
    pub(super) now: ReplayDecision,
    /// Why the log does not have enough of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<UnknownRequest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) approximations: Vec<RequestApproximation>,
}

/// The recorded outcome.
#[derive(Clone, Debug, Serialize)]
pub(super) struct JsonThen {
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl JsonThen {
    pub(super) fn new(then: &RecordedOutcome) -> Self {
        let (code, by, message) = match then {
            RecordedOutcome::Unknown | RecordedOutcome::Allowed => (None, None, None),
            RecordedOutcome::Refused(refusal) => (
                Some(refusal.code),
                Some(refusal.by.to_string()),
                Some(&refusal.message),
            ),
            RecordedOutcome::Failed { code, message } => (Some(*code), None, Some(message)),
        };
        JsonThen {
            decision: then.word(),
            code,
            by,
            message: message.filter(|message| !message.is_empty()).cloned(),
        }
    }

    /// The plugin, policy or webhook that refused the request.
    pub(super) fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }
}

impl ReplayRow {
    /// The row in columns, with the decision of now as it is counted, and how it compares.
    pub(super) fn result<'r>(&'r self, evaluation: Evaluation<'r>, comparison: &'r str) -> ResultRow<'r> {
        let then = &self.then;
        ResultRow {
            evaluation,
            message: self.now.message.as_deref().unwrap_or_default(),
            then: Some(pratique_arrow::RecordedOutcome {
                id: &self.id,
                comparison,
                decision: then.decision,
                by: then.by.as_deref().unwrap_or_default(),
                message: then.message.as_deref().unwrap_or_default(),
                unknown: self.unknown.map(UnknownRequest::name).unwrap_or_default(),
                approximations: self
                    .approximations
                    .iter()
                    .copied()
                    .map(RequestApproximation::name)
                    .collect(),
            }),
        }
    }

    /// The row as text.
    pub(super) fn human(&self, style: StreamStyle) -> PrintableText {
        let tone = match self.comparison {
            DecisionComparison::RefusedNow => TextTone::Bad,
            DecisionComparison::AllowedNow | DecisionComparison::Undecided | DecisionComparison::Accepted => {
                TextTone::Warning
            }
            DecisionComparison::Same | DecisionComparison::NotCompared => TextTone::Good,
        };
        let place = style.paint(TextTone::Place, &self.place);
        let mut out = text!(
            "{}: {}: {}\n",
            place,
            self.subject,
            style.paint(tone, self.comparison.label())
        );
        let mut line = |label: &str, text: &str| {
            let indent = "    ";
            out.push(&text!("  {}{}\n", label, IndentedLines { text, indent }));
        };
        if let Some(unknown) = self.unknown {
            line("", &unknown.to_string());
        }
        if let (true, Some(message)) = (self.now.decision.denies(), &self.now.message) {
            line("", message);
        }
        for undecided in &self.now.undecided {
            line("", &format!("{}: {}", undecided.source(), undecided.message));
        }
        match (&self.then.by, &self.then.message) {
            (Some(by), Some(message)) => {
                line("then: ", &format!("{} by {by}: {message}", self.then.decision))
            }
            (None, Some(message)) => line("then: ", &format!("{}: {message}", self.then.decision)),
            _ => line("then: ", self.then.decision),
        }
        for approximation in &self.approximations {
            line("approximated: ", &approximation.to_string());
        }
        out
    }
}
