//! What is printed, and where: one output on standard output, and others in files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Args, Command, ValueEnum};

use super::output_tip::right_form;
use super::outputs_error::OutputsError;
use crate::claimed_outputs::place_of;

/// How the value of the argument is written, by which the project file recognizes it.
pub(crate) const OUTPUT_VALUE: &str = "FORMAT[=FILE]";

/// The format of an output, and the file that it is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputChoice<F> {
    pub(crate) format: F,
    /// Standard output, if it is none.
    pub(crate) file: Option<PathBuf>,
}

/// The outputs of a command.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArguments<F: ValueEnum + Clone + Send + Sync + 'static> {
    /// Output format, and the file to write it to, as in `sarif=out.sarif`; without a file it is printed. The flag can be repeated:
    /// of several outputs one at most is printed, and if none is, `human` is.
    #[arg(
        long,
        short,
        alias = "format",
        env = "PRATIQUE_OUTPUT",
        value_name = OUTPUT_VALUE,
        default_value = "human",
        ignore_case = true,
        value_parser = OutputParser::<F>(EnumValueParser::new())
    )]
    output: Vec<OutputChoice<F>>,
}

impl<F: ValueEnum + Copy + PartialEq + Send + Sync + 'static> OutputArguments<F> {
    /// The format of the output on standard output.
    pub(crate) fn printed(&self) -> Option<F> {
        let printed = self.output.iter().find(|choice| choice.file.is_none());
        printed.map_or_else(|| F::from_str("human", false).ok(), |choice| Some(choice.format))
    }

    /// Whether the output on standard output has a format.
    pub(crate) fn is_printed(&self, format: F) -> bool {
        self.printed() == Some(format)
    }

    /// Whether the format of an output is one of some.
    pub(crate) fn any(&self, is_one: impl Fn(F) -> bool) -> bool {
        let named = self.output.iter().map(|choice| choice.format);
        named.chain(self.printed()).any(is_one)
    }

    /// Whether an output has a format.
    pub(crate) fn has(&self, format: F) -> bool {
        self.any(|own| own == format)
    }

    /// Whether an output in a format is written to a file.
    pub(crate) fn is_written(&self, format: F) -> bool {
        let mut choices = self.output.iter();
        choices.any(|choice| choice.format == format && choice.file.is_some())
    }

    /// All outputs, that on standard output first.
    ///
    /// # Errors
    /// Two of them go to the same place, or have the same format.
    pub(crate) fn choices(&self) -> Result<Vec<OutputChoice<F>>, OutputsError> {
        let mut all = self.output.clone();
        if all.iter().all(|choice| choice.file.is_some()) {
            let printed = self.printed();
            all.extend(printed.map(|format| OutputChoice { format, file: None }));
        }
        all.sort_by_key(|choice| choice.file.is_some());
        let mut places = BTreeSet::new();
        let place = |choice: &OutputChoice<F>| choice.file.as_deref().map(place_of);
        if !all.iter().all(|choice| places.insert(place(choice))) {
            return Err(OutputsError::SamePlace);
        }
        let mut formats: Vec<F> = Vec::new();
        for choice in &all {
            if formats.contains(&choice.format) {
                return Err(OutputsError::RepeatedFormat);
            }
            formats.push(choice.format);
        }
        Ok(all)
    }
}

/// Parses `FORMAT` and `FORMAT=FILE`.
#[derive(Clone, Debug)]
struct OutputParser<F: ValueEnum + Clone + Send + Sync + 'static>(EnumValueParser<F>);

impl<F: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for OutputParser<F> {
    type Value = OutputChoice<F>;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let text = value.to_str().and_then(|text| text.split_once('='));
        let (format, file) = match text {
            Some((format, file)) if !file.is_empty() => (OsStr::new(format), Some(PathBuf::from(file))),
            _ => (value, None),
        };
        let format = self.0.parse_ref(command, argument, format);
        let format = format.map_err(|error| with_right_form::<F>(error, value))?;
        Ok(OutputChoice { format, file })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// An error with the form that an output has, where it can be told which one is meant.
fn with_right_form<F: ValueEnum>(error: clap::Error, typed: &OsStr) -> clap::Error {
    let mut error = error;
    if let Some(typed) = typed.to_str()
        && let Some(tip) = right_form::<F>(typed)
    {
        error.insert(ContextKind::InvalidValue, ContextValue::String(typed.to_owned()));
        super::suggest(&mut error, ContextKind::SuggestedValue, tip);
    }
    error
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
    enum Format {
        Human,
        Sarif,
        Json,
    }

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        outputs: OutputArguments<Format>,
    }

    fn outputs(arguments: &[&str]) -> Option<Vec<(Format, Option<PathBuf>)>> {
        let line = [&["pratique"], arguments].concat();
        let all = Line::try_parse_from(line).ok()?.outputs.choices().ok()?;
        Some(
            all.into_iter()
                .map(|choice| (choice.format, choice.file))
                .collect(),
        )
    }

    #[test]
    fn one_is_printed() {
        let file = || Some(PathBuf::from("a=b"));
        for (arguments, expected) in [
            (&[][..], Some(vec![(Format::Human, None)])),
            (&["-o", "sarif"], Some(vec![(Format::Sarif, None)])),
            (
                &["-o", "sarif=a=b"],
                Some(vec![(Format::Human, None), (Format::Sarif, file())]),
            ),
            (
                &["--output=human=a=b", "--output", "sarif"],
                Some(vec![(Format::Sarif, None), (Format::Human, file())]),
            ),
            (&["-o", "sarif", "-o", "human"], None),
            (&["-o", "sarif=a", "-o", "human=a"], None),
            (&["-o", "json", "-o", "sarif=a", "-o", "human=./a"], None),
            (
                &["-o", "json", "-o", "sarif=s3://a/b", "-o", "human=s3://a/b"],
                None,
            ),
            // An object of a store is named as it is.
            (
                &["-o", "json", "-o", "sarif=s3://a/b", "-o", "human=s3://a/./b"],
                Some(vec![
                    (Format::Json, None),
                    (Format::Sarif, Some(PathBuf::from("s3://a/b"))),
                    (Format::Human, Some(PathBuf::from("s3://a/./b"))),
                ]),
            ),
            (&["-o", "sarif=a", "-o", "sarif=b"], None),
            (&["-o", "sarif="], None),
            (&["-o", "sarif,json=a"], None),
            (&["-o=SARIF"], Some(vec![(Format::Sarif, None)])),
            (&["-o", "xml=a"], None),
        ] {
            assert_eq!(outputs(arguments), expected, "{arguments:?}");
        }
    }
}
