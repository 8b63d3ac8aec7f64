//! Prints what came of requests, each at once: nothing of it is kept but how many there were.

use pratique::AdmissionDecision;

use super::input_errors::InputErrors;
use super::report::{self, Judged};
use super::unbound::Evaluated;
use super::{diff, report::Answered};
use crate::arguments::ReviewFormat;
use crate::exit::CliError;
use crate::output;
use crate::output::text::text;
use crate::style::Style;

/// How many requests were decided how.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) allowed: usize,
    pub(super) denied: usize,
    pub(super) undecided: usize,
}

/// Prints in a format.
pub(super) struct Printer {
    format: ReviewFormat,
    counts: Counts,
}

impl Printer {
    /// Has printed nothing yet.
    pub(super) fn new(format: ReviewFormat) -> Self {
        Printer {
            format,
            counts: Counts::default(),
        }
    }

    /// Prints what came of a request.
    pub(super) fn print(&mut self, judged: Judged<'_>) -> Result<(), CliError> {
        match judged.outcome.decision() {
            AdmissionDecision::Allowed => self.counts.allowed += 1,
            AdmissionDecision::Denied => self.counts.denied += 1,
            AdmissionDecision::Undecided => self.counts.undecided += 1,
        }
        match self.format {
            ReviewFormat::Human => output::print(&report::one(&judged, Style::of_stdout())),
            ReviewFormat::Json => output::print_json_line(&Answered::from(judged)),
            ReviewFormat::Diff => {
                if !judged.outcome.allowed() {
                    output::note(&report::one(&judged, Style::of_stderr()));
                }
                output::print(&diff::of(&judged, Style::of_stdout()))
            }
        }
    }

    /// Prints what there is to say in the end, and gives the counts.
    pub(super) fn end(self, errors: &InputErrors, evaluated: &Evaluated) -> Result<Counts, CliError> {
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
                    evaluated.counted(),
                ))?;
            }
            ReviewFormat::Json => errors.print_json()?,
            ReviewFormat::Diff => {}
        }
        Ok(self.counts)
    }
}
