//! Errors of parts of the inputs: collected where a part is read, reported and counted in order.

use serde::{Deserialize, Serialize};

use crate::exit::CliError;
use crate::input::InputError;
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::text::{PrintableText, text};
use crate::stream::input_errors::{InputErrors, JsonError, described};
use crate::stream::progress::ProgressLine;
use crate::style::StreamStyle;

/// After how many errors no more are printed.
const MAX_ERRORS: usize = 1000;

/// The errors of a part of the inputs.
#[derive(Default)]
pub(crate) struct InputFaults {
    notes: PrintableText,
    errors: Vec<JsonError>,
    fatal: Option<CliError>,
}

/// The errors of the parts so far.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountedFaults {
    shown: InputErrors,
    more: usize,
}

impl InputFaults {
    pub(crate) fn add(&mut self, error: InputError) {
        match described(error, StreamStyle::of_stderr()) {
            Ok((text, errors)) => {
                self.notes.push(&text);
                self.errors.extend(errors);
            }
            Err(error) => self.end(error),
        }
    }

    /// The errors: places and messages.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (&str, &str)> {
        let errors = self.errors.iter();
        errors.map(|error| (error.place.as_str(), error.message.as_str()))
    }

    /// Keeps an error that ends the command.
    pub(crate) fn end(&mut self, error: CliError) {
        self.fatal = Some(error);
    }
}

impl CountedFaults {
    /// `reported_errors` are those that were found and reported before.
    pub(crate) fn new(reported_errors: InputErrors) -> Self {
        CountedFaults {
            shown: reported_errors,
            more: 0,
        }
    }

    /// Reports and counts the errors of a part; gives the error that ends the command.
    pub(crate) fn collect(
        &mut self,
        mut faults: InputFaults,
        progress: &mut ProgressLine,
    ) -> Option<CliError> {
        self.leave_out_known(&mut faults);
        if !faults.errors.is_empty() {
            progress.clear();
        }
        if self.shown.count() + faults.errors.len() > MAX_ERRORS {
            self.more += faults.errors.len()
        } else {
            if !faults.notes.as_str().is_empty() {
                output::eprint(&faults.notes);
            }
            self.shown.extend(faults.errors);
        }
        faults.fatal
    }

    /// Leaves out of the errors of a part those that were reported before: of a file that is state as well, or read by another path.
    pub(crate) fn leave_out_known(&self, faults: &mut InputFaults) {
        faults.errors.retain(|error| !self.shown.has(error));
        if faults.errors.is_empty() {
            faults.notes = PrintableText::new();
        }
    }

    /// The errors that were shown.
    pub(crate) fn errors(&self) -> &[JsonError] {
        self.shown.as_slice()
    }

    pub(crate) fn count(&self) -> usize {
        self.shown.count() + self.more
    }

    /// Reports how many errors were not shown.
    pub(crate) fn report_hidden(&self) {
        if self.more > 0 {
            output::eprint(&output::warning(&text!(
                "{} counted and not shown",
                counted(self.more, "more error is", "more errors are")
            )));
        }
    }

    /// Prints a JSON line for each error that was shown.
    pub(crate) fn print_json(&self) -> Result<(), CliError> {
        self.shown.print_json()
    }
}
