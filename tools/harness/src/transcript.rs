//! The steps of a tool and their outcomes, printed as they happen.

use std::process::ExitCode;

use crate::error::ToolError;

/// The outcome of a step with an observation that is right or wrong.
pub fn outcome(is_right: bool, observed: impl Into<String>) -> Result<String, ToolError> {
    if is_right {
        Ok(observed.into())
    } else {
        Err(ToolError::Unexpected(observed.into()))
    }
}

/// Counts steps.
#[derive(Debug, Default)]
pub struct StepTranscript {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl StepTranscript {
    /// Begins a part.
    pub fn part(&mut self, title: &str) {
        println!("\n{title}");
    }

    /// Reports a step that passed, or its error.
    pub fn step(&mut self, name: &str, outcome: Result<String, ToolError>) {
        match outcome {
            Ok(observed) => {
                self.passed += 1;
                println!("  ok      {name}{}", indented(&observed));
            }
            Err(wrong) => {
                self.failed += 1;
                println!("  FAILED  {name}{}", indented(&wrong.to_string()));
            }
        }
    }

    /// Reports a step that cannot be run, with the reason.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.skipped += 1;
        println!("  SKIPPED {name}{}", indented(why));
    }

    /// Prints the summary or an error, and returns the exit code.
    pub fn end(ended: Result<Self, ToolError>) -> ExitCode {
        match ended {
            Ok(StepTranscript {
                passed,
                failed,
                skipped,
            }) => {
                let skipped = match skipped {
                    0 => String::new(),
                    count => format!(", {count} skipped"),
                };
                println!("\n{passed} passed, {failed} failed{skipped}");
                ExitCode::from(u8::from(failed > 0))
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("\n            {line}")).collect()
}
