//! Collects and reports inputs with errors.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize, Serializer};

use crate::exit::CliError;
use crate::input::InputError;
use crate::output::excerpt::FileTexts;
use crate::output::finding::AnnotationLevel;
use crate::output::place::InputPlace;
use crate::output::sarif::LogResult;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::output::{self, problems};
use crate::style::{StreamStyle, TextTone};

/// The errors of inputs and of the state. A file that is read twice, as both or by two paths, has its errors once.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Vec<JsonError>")]
pub(crate) struct InputErrors {
    errors: Vec<JsonError>,
    known: HashSet<KnownError>,
}

/// By what an error is known again.
#[derive(Debug, PartialEq, Eq, Hash)]
struct KnownError {
    file: PathBuf,
    line: u32,
    column: u32,
    message: String,
}

impl From<&JsonError> for KnownError {
    fn from(error: &JsonError) -> Self {
        let place = error.input_place();
        KnownError {
            file: place.absolute_file(),
            line: place.line,
            column: place.column,
            message: error.message.clone(),
        }
    }
}

impl From<Vec<JsonError>> for InputErrors {
    fn from(errors: Vec<JsonError>) -> Self {
        let mut all = InputErrors::default();
        all.extend(errors);
        all
    }
}

impl Serialize for InputErrors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.errors.serialize(serializer)
    }
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
        LogResult::new(INPUT, AnnotationLevel::Error, &message, &self.input_place(), None)
    }
}

/// A line of JSON about an error.
#[derive(Serialize)]
pub(crate) struct ErrorLine<'a> {
    pub(crate) error: &'a JsonError,
}

/// The text about an error of an input, and the errors that it consists of; errors of the command are returned.
pub(crate) fn described(
    error: InputError,
    style: StreamStyle,
) -> Result<(PrintableText, Vec<JsonError>), CliError> {
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
            let mut texts = FileTexts::default();
            texts.insert_part(&file.path, &file.content, line);
            let text = problems::human(&errors, &mut texts, style);
            let json_errors = errors.failures().iter().map(|failure| JsonError {
                place: failure
                    .problems
                    .first()
                    .and_then(|problem| problem.location.as_ref())
                    .map_or_else(|| file.path.clone(), problems::place),
                message: failure.text.clone(),
            });
            (text, json_errors.collect())
        }
    })
}

fn one(place: String, message: String, style: StreamStyle) -> (PrintableText, Vec<JsonError>) {
    let error = style.paint(TextTone::Bad, "error:");
    let lines = IndentedLines {
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
    pub(crate) fn as_slice(&self) -> &[JsonError] {
        &self.errors
    }

    /// Whether an error is among them.
    pub(crate) fn has(&self, error: &JsonError) -> bool {
        self.known.contains(&KnownError::from(error))
    }

    /// Adds errors that were reported; gives how many of them are new.
    pub(crate) fn extend(&mut self, errors: Vec<JsonError>) -> usize {
        let start = self.errors.len();
        for error in errors {
            if self.known.insert(KnownError::from(&error)) {
                self.errors.push(error);
            }
        }
        self.errors.len() - start
    }

    /// Reports an error of an input; errors of the command are returned.
    pub(crate) fn add(&mut self, error: InputError) -> Result<(), CliError> {
        let (text, errors) = described(error, StreamStyle::of_stderr())?;
        self.tell(&text, errors);
        Ok(())
    }

    /// Reports an error.
    pub(crate) fn report(&mut self, place: String, message: String) {
        let (text, errors) = one(place, message, StreamStyle::of_stderr());
        self.tell(&text, errors);
    }

    fn tell(&mut self, text: &PrintableText, errors: Vec<JsonError>) {
        if self.extend(errors) > 0 {
            output::eprint(text);
        }
    }

    /// Prints a JSON line for each error.
    pub(crate) fn print_json(&self) -> Result<(), CliError> {
        let mut errors = self.errors.iter();
        errors.try_for_each(|error| output::print_json_line(&ErrorLine { error }))
    }
}
