//! Prints results as they come, and counts them.

use pratique::AdmissionDecision;

use super::diff;
use super::input_errors::InputErrors;
use super::report::{self, JsonReview};
use super::result::ReviewResult;
use super::unbound::EvaluationScope;
use crate::arguments::ReviewFormat;
use crate::exit::CliError;
use crate::output;
use crate::output::text::text;
use crate::style::Style;

/// The number of requests by decision.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) allowed: usize,
    pub(super) denied: usize,
    pub(super) undecided: usize,
}

/// Prints results in a format.
pub(super) struct Printer {
    format: ReviewFormat,
    counts: Counts,
}

impl Printer {
    /// A printer for a format.
    pub(super) fn new(format: ReviewFormat) -> Self {
        Printer {
            format,
            counts: Counts::default(),
        }
    }

    /// Prints the result of a request.
    pub(super) fn print(&mut self, result: ReviewResult<'_>) -> Result<(), CliError> {
        match result.outcome.decision() {
            AdmissionDecision::Allowed => self.counts.allowed += 1,
            AdmissionDecision::Denied => self.counts.denied += 1,
            AdmissionDecision::Undecided => self.counts.undecided += 1,
        }
        match self.format {
            ReviewFormat::Human => output::print(&report::one(&result, Style::of_stdout())),
            ReviewFormat::Json => output::print_json_line(&JsonReview::from(result)),
            ReviewFormat::Diff => {
                if !result.outcome.allowed() {
                    output::note(&report::one(&result, Style::of_stderr()));
                }
                output::print(&diff::of(&result, Style::of_stdout()))
            }
        }
    }

    /// Prints the summary, and gives the counts.
    pub(super) fn end(self, errors: &InputErrors, scope: &EvaluationScope) -> Result<Counts, CliError> {
        let Counts {
            allowed,
            denied,
            undecided,
        } = self.counts;
        match self.format {
            ReviewFormat::Human => {
                let undecided = match undecided {
                    0 => String::new(),
                    count => format!(", {count} undecided"),
                };
                output::print(&text!(
                    "\n{} allowed, {} denied{}{}\n{}",
                    allowed,
                    denied,
                    undecided,
                    errors.counted(),
                    scope.counted(),
                ))?;
            }
            ReviewFormat::Json => errors.print_json()?,
            ReviewFormat::Diff => {}
        }
        Ok(self.counts)
    }
}
