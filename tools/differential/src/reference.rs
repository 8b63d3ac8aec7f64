//! The reference of CEL: a Go program that answers batches of expressions.

use std::path::Path;

use pratique_harness::Error;
use serde::Serialize;

use super::outcome::Outcome;
use super::process::{Process, build};
use super::world::World;

/// A question: expressions in a world.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Batch<'b> {
    /// Where they are compiled and evaluated.
    #[serde(flatten)]
    pub(super) world: &'b World,
    /// Their sources.
    pub(super) expressions: &'b [String],
    /// How often each is asked.
    pub(super) times: usize,
}

/// The program, running.
pub(super) struct Reference(Process);

impl Reference {
    /// Builds the program into the target directory.
    pub(super) fn build() -> Result<std::path::PathBuf, Error> {
        build("cel")
    }

    /// Starts the program.
    pub(super) fn start(binary: &Path) -> Result<Self, Error> {
        Process::start(binary, &[]).map(Reference)
    }

    /// Asks; the answers come in the order of the questions.
    pub(super) fn ask(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.0.ask(batch)
    }

    /// The next answer: for each expression the different outcomes that were seen.
    pub(super) fn answer(&mut self) -> Result<Vec<Vec<Outcome>>, Error> {
        let answers = self.0.answer()?;
        match answers.error.is_empty() {
            true => Ok(answers.outcomes),
            false => Err(answers.error.into()),
        }
    }
}
