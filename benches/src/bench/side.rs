//! A program that is a side of a contest.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pratique_harness::{LineProcess, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

/// A side of a contest.
pub(crate) trait ContestSide {
    /// Repeats the work of a measure on a case for about the given time.
    fn measure(&mut self, measure: &str, case: &str, length: Duration) -> Result<SideSample, ToolError>;
}

/// A measurement.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct SideSample {
    /// How many times the work was done.
    pub(crate) operations: u64,
    /// The total time.
    pub(crate) nanoseconds: u64,
}

impl SideSample {
    /// The nanoseconds of doing the work once.
    pub(crate) fn each(&self) -> f64 {
        self.nanoseconds as f64 / self.operations.max(1) as f64
    }
}

/// A program that answers lines of JSON on stdin with lines of JSON on stdout: the setup with its facts, then
/// each `{"measure", "case", "nanoseconds"}` with a [`SideSample`].
#[derive(Debug)]
pub(crate) struct SideProgram(LineProcess);

impl SideProgram {
    /// Starts a program and gives it the setup; returns it with its facts.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        setup: &Value,
    ) -> Result<(Self, Value), ToolError> {
        let mut started = SideProgram(LineProcess::start(Command::new(program).args(arguments))?);
        let facts = started.ask(setup)?;
        Ok((started, facts))
    }

    /// Repeats the evaluation for about the given time, measured in processor time if `processor` is set.
    pub(super) fn evaluate(
        &mut self,
        case: &str,
        length: Duration,
        processor: bool,
    ) -> Result<SideSample, ToolError> {
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.order(
            json!({"measure": "admit", "case": case, "nanoseconds": nanoseconds, "processor": processor}),
        )
    }

    fn order(&mut self, order: Value) -> Result<SideSample, ToolError> {
        let answer = self.ask(&order)?;
        serde_json::from_value(answer).map_err(|error| ToolError::from(format!("{}: {error}", self.0.name())))
    }

    fn ask(&mut self, order: &Value) -> Result<Value, ToolError> {
        self.0.send(&order.to_string())?;
        let line = self.0.receive()?;
        serde_json::from_str(&line)
            .map_err(|error| ToolError::from(format!("{}: {line}: {error}", self.0.name())))
    }
}

/// Starts two sides with the same setup, or only ours, and checks that the compared parts of their facts are equal.
pub(super) fn start_both(
    (ours, arguments): (&Path, &[&str]),
    theirs: Option<(&Path, &[&str])>,
    setup: &Value,
    compared: impl Fn(&Value) -> Value,
) -> Result<(SideProgram, Option<SideProgram>), ToolError> {
    let (ours, facts) = SideProgram::start(ours, arguments, setup)?;
    let Some((theirs, arguments)) = theirs else {
        return Ok((ours, None));
    };
    let (theirs, their_facts) = SideProgram::start(theirs, arguments, setup)?;
    if compared(&facts) == compared(&their_facts) {
        Ok((ours, Some(theirs)))
    } else {
        Err(format!("the sides differ: ours {facts}, theirs {their_facts}").into())
    }
}

impl ContestSide for SideProgram {
    fn measure(&mut self, measure: &str, case: &str, length: Duration) -> Result<SideSample, ToolError> {
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.order(json!({"measure": measure, "case": case, "nanoseconds": nanoseconds}))
    }
}
