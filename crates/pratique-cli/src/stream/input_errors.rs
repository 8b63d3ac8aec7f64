//! Collects and reports inputs with errors.

use serde::{Deserialize, Serialize};

use crate::exit::CliError;
use crate::input::InputError;
use crate::output::excerpt::Texts;
use crate::output::finding::Level;
use crate::output::place::InputPlace;
use crate::output::sarif::LogResult;
use crate::output::text::{Lines, Text, text};
use crate::output::{self, problems};
use crate::style::{Style, Tone};

/// The errors of inputs.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct InputErrors {
    errors: Vec<JsonError>,
}

/// An error of an input, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct JsonError {
    pub(crate) place: String,
    pub(crate) message: String,
}

/// The rule of errors of inputs, in outputs that name one.
pub(crate) const INPUT: &str = "input";

impl JsonError {
    /// The file and, if it is known, the line.
    pub(crate) fn input_place(&self) -> InputPlace {
        InputPlace::parse(&self.place)
    }

    /// The error as a result of SARIF.
    pub(crate) fn sarif(&self) -> LogResult {
        let message = format!("{}: {}", self.place, self.message);
        LogResult::new(INPUT, Level::Error, &message, &self.input_place(), None)
    }
}

/// A line of JSON about an error.
#[derive(Serialize)]
pub(crate) struct ErrorLine<'a> {
    pub(crate) error: &'a JsonError,
}

/// The text about an error of an input, and the errors that it consists of; errors of the command are returned.
pub(crate) fn described(error: InputError, style: Style) -> Result<(Text, Vec<JsonError>), CliError> {
    Ok(match error {
        InputError::Cli(error) => return Err(error),
        InputError::TooLarge { path, mebibytes } => one(
            path,
            format!("larger than {mebibytes} MiB; --max-input allows more"),
            style,
        ),
        InputError::Faulty { place, why } => one(place, why, style),
        InputError::Unread { path, error } => {
            let message = CliError::Read {
                path: String::new(),
                error,
            }
            .to_string();
            one(path, message.trim_start_matches(": ").to_owned(), style)
        }
        InputError::Invalid { file, line, errors } => {
            let mut texts = Texts::default();
            texts.insert_part(&file.path, &file.content, line);
            let text = problems::human(&errors, &mut texts, style);
            let found = errors.failures().iter().map(|failure| JsonError {
                place: failure
                    .problems
                    .first()
                    .and_then(|problem| problem.location.as_ref())
                    .map_or_else(|| file.path.clone(), problems::place),
                message: failure.text.clone(),
            });
            (text, found.collect())
        }
    })
}

fn one(place: String, message: String, style: Style) -> (Text, Vec<JsonError>) {
    let error = style.paint(Tone::Bad, "error:");
    let lines = Lines {
        text: &message,
        indent: "  ",
    };
    let text = text!("{} {}: {}\n", error, place, lines);
    (text, vec![JsonError { place, message }])
}

impl InputErrors {
    /// The number of errors.
    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    /// All errors.
    pub(crate) fn all(&self) -> &[JsonError] {
        &self.errors
    }

    /// Adds errors that were reported.
    pub(crate) fn extend(&mut self, errors: Vec<JsonError>) {
        self.errors.extend(errors);
    }

    /// Reports an error of an input; errors of the command are returned.
    pub(crate) fn add(&mut self, error: InputError) -> Result<(), CliError> {
        let (text, errors) = described(error, Style::of_stderr())?;
        output::eprint(&text);
        self.errors.extend(errors);
        Ok(())
    }

    /// Reports an error.
    pub(crate) fn report(&mut self, place: String, message: String) {
        let (text, errors) = one(place, message, Style::of_stderr());
        output::eprint(&text);
        self.errors.extend(errors);
    }

    /// Prints a JSON line for each error.
    pub(crate) fn print_json(&self) -> Result<(), CliError> {
        let mut errors = self.errors.iter();
        errors.try_for_each(|error| output::print_json_line(&ErrorLine { error }))
    }
}
