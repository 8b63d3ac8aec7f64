//! A reference: a Go program that answers lines of JSON on stdin with lines of JSON on stdout, in their order.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::{Error, LineProcess, go, workspace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Builds the program of a Go module into the target directory.
pub(super) fn build(module: &str) -> Result<PathBuf, Error> {
    let binary = workspace::target().join(format!("differential-{module}"));
    go::build(module, "./differential", &binary)?;
    Ok(binary)
}

/// An answer: to each part of a question the different outcomes that were seen, or why it cannot be answered.
#[derive(Deserialize)]
#[serde(default, bound = "O: DeserializeOwned")]
pub(super) struct Answers<O> {
    pub(super) outcomes: Vec<Vec<O>>,
    pub(super) error: String,
}

impl<O> Default for Answers<O> {
    fn default() -> Self {
        Answers {
            outcomes: Vec::new(),
            error: String::new(),
        }
    }
}

/// A program, running.
pub(super) struct Process(LineProcess);

impl Process {
    /// Starts a program.
    pub(super) fn start(binary: &Path, arguments: &[&OsStr]) -> Result<Self, Error> {
        LineProcess::start(Command::new(binary).args(arguments)).map(Process)
    }

    /// Asks; the answers come in the order of the questions.
    pub(super) fn ask(&mut self, question: &impl Serialize) -> Result<(), Error> {
        let line = serde_json::to_string(question).map_err(|error| error.to_string())?;
        self.0.send(&line)
    }

    /// The next answer, in which values may be nested as deep as expressions.
    pub(super) fn answer<O: DeserializeOwned>(&mut self) -> Result<Answers<O>, Error> {
        let line = self.0.receive()?;
        let mut deserializer = serde_json::Deserializer::from_str(&line);
        deserializer.disable_recursion_limit();
        Answers::deserialize(&mut deserializer).map_err(|error| Error::from(format!("{error}: {line}")))
    }
}
