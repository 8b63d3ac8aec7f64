//! The reference: the API server's own plugins, in a Go program that answers for worlds.

use std::path::PathBuf;

use pratique_harness::{Error, go};
use serde::Serialize;
use serde_json::Value;

use super::world::World;
use crate::process::{Process, build};

#[derive(Serialize)]
struct Question<'w> {
    #[serde(flatten)]
    world: &'w World,
    /// How often the world is made anew.
    times: usize,
}

/// The program, running.
#[allow(missing_debug_implementations, reason = "a process shows nothing")]
pub struct Reference(Process);

impl Reference {
    /// Builds and starts the program.
    ///
    /// # Errors
    /// Go is not installed, or the program does not build.
    pub fn start() -> Result<Self, Error> {
        let binary = build("policy")?;
        let documents = documents()?;
        Process::start(&binary, &["policy".as_ref(), documents.as_os_str()]).map(Reference)
    }

    /// Asks about a world, made anew so many times; the answers come in the order of the questions.
    ///
    /// # Errors
    /// The program reads no more.
    pub fn ask(&mut self, world: &World, times: usize) -> Result<(), Error> {
        self.0.ask(&Question { world, times })
    }

    /// The next answer: for each request the different outcomes that were seen. The inner error is that of a world that
    /// the reference cannot be asked about.
    ///
    /// # Errors
    /// The program has ended.
    pub fn answer(&mut self) -> Result<Result<Vec<Vec<Value>>, Error>, Error> {
        let answers = self.0.answer()?;
        Ok(match answers.error.is_empty() {
            true => Ok(answers.outcomes.into_iter().map(plain).collect()),
            false => Err(answers.error.into()),
        })
    }
}

/// Outcomes in the form of ours.
pub(crate) fn plain(mut outcomes: Vec<Value>) -> Vec<Value> {
    for outcome in &mut outcomes {
        if let Some(status) = outcome.get_mut("status").and_then(Value::as_object_mut) {
            status.retain(|name, _| !["kind", "apiVersion", "metadata", "status"].contains(&name.as_str()));
        }
    }
    outcomes
}

/// The directory of the OpenAPI documents of the built-in types.
fn documents() -> Result<PathBuf, Error> {
    let module = go::dependency("load", "k8s.io/kubernetes")?;
    Ok(module.join("api/openapi-spec/v3"))
}
