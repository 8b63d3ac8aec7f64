//! Prints results on standard output, and everything else on standard error.
//!
//! The type of what is printed determines how it was escaped: [`PrintableText`], [`WorkflowCommands`] of GitHub Actions, [`XmlDocument`], [`InlineScript`],
//! JSON, or YAML. Plain strings cannot be printed.

pub(crate) mod capture;
pub(crate) mod catalog;
pub(crate) mod counted_nouns;
pub(crate) mod excerpt;
pub(crate) mod failure_annotations;
pub(crate) mod finding;
pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod notice;
pub(crate) mod place;
pub(crate) mod problems;
pub(crate) mod sarif;
pub(crate) mod script;
pub(crate) mod table;
pub(crate) mod text;

use std::io::{self, ErrorKind, Write};

use pratique_state::yaml;

use crate::exit::CliError;
use crate::input::standard_input::{STDIN_FILENAME_COMMANDS, STDIN_NAME};
use crate::style::{StreamStyle, TextTone};
use github::WorkflowCommands;
use junit::XmlDocument;
use script::InlineScript;
use text::{PrintableText, text};

/// Prints text.
pub(crate) fn print(text: &PrintableText) -> Result<(), CliError> {
    write(text::printed(text).as_bytes())
}

/// Prints a script.
pub(crate) fn print_script(script: &InlineScript) -> Result<(), CliError> {
    write(script.as_bytes())
}

/// Output that was escaped for its format, to be printed later.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrintedOutput(Vec<u8>);

impl PrintedOutput {
    /// Adds text.
    pub(crate) fn push_text(&mut self, text: &PrintableText) {
        self.0.extend_from_slice(text::printed(text).as_bytes());
    }

    /// Adds a value as a JSON line.
    pub(crate) fn json_line(&mut self, value: &impl serde::Serialize) -> Result<(), CliError> {
        self.0.extend(json::line(value).map_err(unwritten)?);
        Ok(())
    }

    /// Adds commands of GitHub Actions.
    pub(crate) fn github(&mut self, commands: &WorkflowCommands) {
        self.0.extend_from_slice(commands.as_str().as_bytes());
    }

    /// Whether there is nothing to print.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a value as a YAML document.
    pub(crate) fn yaml_document(&mut self, value: &pratique_json::Value<'_>) {
        self.0.extend_from_slice(yaml_document(value).as_bytes());
    }

    /// How many bytes there are to print.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Prints it.
    pub(crate) fn print(&self) -> Result<(), CliError> {
        match self.0.as_slice() {
            [] => Ok(()),
            bytes => write(bytes),
        }
    }
}

/// Prints text on standard error, and ignores errors.
pub(crate) fn eprint(text: &PrintableText) {
    let mut out = io::stderr().lock();
    let printed = text::printed(text);
    let _ = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
}

/// A warning on a line of its own, for standard error.
pub(crate) fn warning(message: &PrintableText) -> PrintableText {
    let label = StreamStyle::of_stderr().paint(TextTone::Warning, "warning:");
    text!("{} {}\n", label, message)
}

/// A note on a line of its own, for standard error.
pub(crate) fn note(message: &PrintableText) -> PrintableText {
    let label = StreamStyle::of_stderr().paint(TextTone::Faint, "note:");
    text!("{} {}\n", label, message)
}

/// A warning about a place of an input.
pub(crate) fn warning_at(place: &str, message: &str) -> PrintableText {
    warning(&text!("{}: {}", place, message))
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    write(&json::pretty(value).map_err(unwritten)?)
}

/// Prints a value as a JSON line.
pub(crate) fn print_json_line(value: &impl serde::Serialize) -> Result<(), CliError> {
    write(&json::line(value).map_err(unwritten)?)
}

/// Prints a log of SARIF, and tells on standard error what it leaves out.
pub(crate) fn print_sarif(log: &sarif::SarifLog) -> Result<(), CliError> {
    for message in log.omissions() {
        eprint(&warning(&text!("{}", message)));
    }
    if log.names_stdin() {
        eprint(&note(&text!("{}", stdin_message("results"))));
    }
    print_json(log)
}

/// Prints commands of GitHub Actions, and how many annotations are not shown: on standard error, which a summary has as well, or
/// in the file of the output.
pub(crate) fn print_github(commands: &WorkflowCommands) -> Result<(), CliError> {
    write(commands.as_str().as_bytes())?;
    match commands.counts().describe_more() {
        more if more.as_str().is_empty() => Ok(()),
        more if capture::is_capturing() => print(&more),
        more => {
            eprint(&more);
            Ok(())
        }
    }
}

/// What is said of what stands beside standard input, in outputs that name files.
fn stdin_message(what: &str) -> String {
    format!(
        "{what} of {STDIN_NAME} stand beside no file of a change: with --stdin-filename FILE, {STDIN_FILENAME_COMMANDS} take it for \
         that file"
    )
}

/// Prints XML.
pub(crate) fn print_xml(xml: &XmlDocument) -> Result<(), CliError> {
    if xml.names_stdin() {
        eprint(&note(&text!("{}", stdin_message("cases"))));
    }
    write(xml.as_str().as_bytes())
}

/// Prints values as YAML documents.
pub(crate) fn print_yaml(values: &[pratique_json::Value<'_>]) -> Result<(), CliError> {
    write(values.iter().map(yaml_document).collect::<String>().as_bytes())
}

/// A document of a stream.
fn yaml_document(value: &pratique_json::Value<'_>) -> String {
    format!("---\n{}", yaml::block(value, 0))
}

/// Writes to standard output, or to what is printed instead. If that is a pipe without a reader, the command ends quietly, with the exit code of
/// `SIGPIPE`.
fn write(bytes: &[u8]) -> Result<(), CliError> {
    if capture::keep(bytes) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => CliError::BrokenPipe,
            _ => CliError::Write(error),
        })
}

fn unwritten(error: serde_json::Error) -> CliError {
    CliError::Write(error.into())
}
