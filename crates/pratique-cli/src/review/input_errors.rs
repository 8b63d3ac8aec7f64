//! Collects and reports inputs with errors.

use serde::Serialize;

use crate::exit::CliError;
use crate::input::InputError;
use crate::output::excerpt::Texts;
use crate::output::text::{Lines, text};
use crate::output::{self, problems};
use crate::style::{Style, Tone};

/// The errors of inputs.
#[derive(Debug, Default)]
pub(super) struct InputErrors {
    errors: Vec<JsonError>,
}

/// An error of an input, as JSON.
#[derive(Debug, Serialize)]
struct JsonError {
    place: String,
    message: String,
}

/// A line of output.
#[derive(Serialize)]
struct Line<'a> {
    error: &'a JsonError,
}

impl InputErrors {
    /// The number of errors.
    pub(super) fn count(&self) -> usize {
        self.errors.len()
    }

    /// Reports an error of an input; errors of the command are returned.
    pub(super) fn add(&mut self, error: InputError) -> Result<(), CliError> {
        let style = Style::of_stderr();
        match error {
            InputError::Cli(error) => return Err(error),
            InputError::TooLarge { path, mebibytes } => {
                self.report(
                    path,
                    format!("larger than {mebibytes} MiB; --max-input allows more"),
                    style,
                );
            }
            InputError::Faulty { place, why } => self.report(place, why, style),
            InputError::Invalid { file, errors } => {
                let mut texts = Texts::default();
                texts.insert(&file.path, &file.content);
                output::note(&problems::human(&errors, &mut texts, style));
                let found = errors.failures().iter().map(|failure| JsonError {
                    place: failure
                        .problems
                        .first()
                        .and_then(|problem| problem.location.as_ref())
                        .map_or_else(|| file.path.clone(), problems::place),
                    message: failure.text.clone(),
                });
                self.errors.extend(found);
            }
        }
        Ok(())
    }

    fn report(&mut self, place: String, message: String, style: Style) {
        let error = style.paint(Tone::Bad, "error:");
        let lines = Lines {
            text: &message,
            indent: "  ",
        };
        output::note(&text!("{} {}: {}\n", error, place, lines));
        self.errors.push(JsonError { place, message });
    }

    /// `, 2 errors`; empty if there are none.
    pub(super) fn counted(&self) -> String {
        match self.count() {
            0 => String::new(),
            1 => ", 1 error".to_owned(),
            count => format!(", {count} errors"),
        }
    }

    /// Prints a JSON line for each error.
    pub(super) fn print_json(&self) -> Result<(), CliError> {
        let mut errors = self.errors.iter();
        errors.try_for_each(|error| output::print_json_line(&Line { error }))
    }
}
