//! A program that is a side of a contest.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pratique_harness::{Error, LineProcess};
use serde::Deserialize;
use serde_json::{Value, json};

/// A side of a contest.
pub trait Side {
    /// Repeats the work of a measure on a case for about the given time.
    fn measure(&mut self, measure: &str, case: &str, length: Duration) -> Result<Sample, Error>;
}

/// A measurement.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Sample {
    /// How many times the work was done.
    pub operations: u64,
    /// The total time.
    pub nanoseconds: u64,
}

impl Sample {
    /// The nanoseconds of doing the work once.
    pub fn each(&self) -> f64 {
        self.nanoseconds as f64 / self.operations.max(1) as f64
    }
}

/// A program that answers lines of JSON on stdin with lines of JSON on stdout: the setup with its facts, then
/// each `{"measure", "case", "nanoseconds"}` with a [`Sample`].
#[derive(Debug)]
pub struct Program(LineProcess);

impl Program {
    /// Starts a program and gives it the setup; returns it with its facts.
    pub fn start(program: &Path, arguments: &[&str], setup: &Value) -> Result<(Self, Value), Error> {
        let mut started = Program(LineProcess::start(Command::new(program).args(arguments))?);
        let facts = started.ask(setup)?;
        Ok((started, facts))
    }

    /// Repeats the evaluation for about the given time, measured in processor time if `processor` is set.
    pub(super) fn evaluate(
        &mut self,
        case: &str,
        length: Duration,
        processor: bool,
    ) -> Result<Sample, Error> {
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.order(
            json!({"measure": "judge", "case": case, "nanoseconds": nanoseconds, "processor": processor}),
        )
    }

    fn order(&mut self, order: Value) -> Result<Sample, Error> {
        let answer = self.ask(&order)?;
        serde_json::from_value(answer).map_err(|error| Error::from(format!("{}: {error}", self.0.name())))
    }

    fn ask(&mut self, order: &Value) -> Result<Value, Error> {
        self.0.send(&order.to_string())?;
        let line = self.0.receive()?;
        serde_json::from_str(&line)
            .map_err(|error| Error::from(format!("{}: {line}: {error}", self.0.name())))
    }
}

/// Starts two sides with the same setup, or only ours, and checks that the compared parts of their facts are equal.
pub(super) fn start_both(
    (ours, arguments): (&Path, &[&str]),
    theirs: Option<(&Path, &[&str])>,
    setup: &Value,
    compared: impl Fn(&Value) -> Value,
) -> Result<(Program, Option<Program>), Error> {
    let (ours, facts) = Program::start(ours, arguments, setup)?;
    let Some((theirs, arguments)) = theirs else {
        return Ok((ours, None));
    };
    let (theirs, their_facts) = Program::start(theirs, arguments, setup)?;
    if compared(&facts) == compared(&their_facts) {
        Ok((ours, Some(theirs)))
    } else {
        Err(format!("the sides differ: ours {facts}, theirs {their_facts}").into())
    }
}

impl Side for Program {
    fn measure(&mut self, measure: &str, case: &str, length: Duration) -> Result<Sample, Error> {
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.order(json!({"measure": measure, "case": case, "nanoseconds": nanoseconds}))
    }
}
