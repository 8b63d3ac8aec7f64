//! A program that takes part in a contest.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

/// Something that measures what it is asked to.
pub trait Side {
    /// Does the work of a measure on a case over and over for about so long.
    fn measure(&mut self, measure: &str, case: &str, length: Duration) -> Result<Sample, String>;
}

/// What was measured.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Sample {
    /// How often the work was done.
    pub operations: u64,
    /// How long that took.
    pub nanoseconds: u64,
}

impl Sample {
    /// The nanoseconds of doing the work once.
    pub fn each(&self) -> f64 {
        self.nanoseconds as f64 / self.operations.max(1) as f64
    }
}

/// A child process that answers lines of JSON on stdin with lines of JSON on stdout: the setup with its facts, then
/// each `{"measure", "case", "nanoseconds"}` with a [`Sample`].
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a program and gives it the setup; returns it with its facts.
    pub fn start(program: &Path, arguments: &[&str], setup: &Value) -> Result<(Self, Value), String> {
        let name = program.display().to_string();
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name}: {error}"))?;
        let orders = child.stdin.take();
        let answers = child
            .stdout
            .take()
            .ok_or_else(|| format!("{name}: has no stdout"))?;
        let mut started = Program {
            name,
            child,
            orders,
            answers: BufReader::new(answers),
        };
        let facts = started.ask(setup)?;
        Ok((started, facts))
    }

    /// Has it judge over and over for about so long, and count the time on processors if that is wanted.
    pub(super) fn judge(&mut self, case: &str, length: Duration, processor: bool) -> Result<Sample, String> {
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.order(
            json!({"measure": "judge", "case": case, "nanoseconds": nanoseconds, "processor": processor}),
        )
    }

    fn order(&mut self, order: Value) -> Result<Sample, String> {
        let answer = self.ask(&order)?;
        serde_json::from_value(answer).map_err(|error| format!("{}: {error}", self.name))
    }

    fn ask(&mut self, order: &Value) -> Result<Value, String> {
        let name = &self.name;
        let orders = self
            .orders
            .as_mut()
            .ok_or_else(|| format!("{name}: has no stdin"))?;
        writeln!(orders, "{order}").map_err(|error| format!("{name}: {error}"))?;
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err(format!("{name}: ended early")),
            Ok(_) => serde_json::from_str(&line).map_err(|error| format!("{name}: {line}: {error}")),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }
}

impl Side for Program {
    fn measure(&mut self, measure: &str, case: &str, length: Duration) -> Result<Sample, String> {
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.order(json!({"measure": measure, "case": case, "nanoseconds": nanoseconds}))
    }
}

/// The end of its stdin is the end of its work.
impl Drop for Program {
    fn drop(&mut self) {
        self.orders.take();
        // It has nothing left to say; how it ends changes no result.
        let _ = self.child.wait();
    }
}
