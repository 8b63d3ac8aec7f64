//! A reference: a Go program that answers lines of JSON on stdin with lines of JSON on stdout, in their order.

use std::ffi::OsStr;
use std::process::Command;

use pratique_harness::{LineProcess, ToolError, go, workspace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::release::ComparedRelease;

/// The different outcomes of each part of a question, or why it cannot be answered.
pub type ReferenceAnswer = Result<Vec<Vec<Value>>, String>;

/// An answer in the form of its line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerLine {
    outcomes: Vec<Vec<Value>>,
    error: String,
}

/// The texts of Go's protocol buffers have spaces that are others in each build, so that nobody relies on them.
// Upstream: google.golang.org/protobuf/internal/errors/errors.go, init; internal/encoding/text/encode.go, prepareNext
fn settle_spaces(line: &str) -> String {
    line.replace("proto:\u{a0}", "proto: ")
        .replace("\\\"  value:", "\\\" value:")
}

/// The program, running.
#[derive(Debug)]
pub struct ReferenceProgram(LineProcess);

impl ReferenceProgram {
    /// Builds the program of a Go module into the target directory, with the code of a release of Kubernetes; and starts it.
    pub(super) fn start(
        compared: &ComparedRelease,
        module: &str,
        arguments: &[&OsStr],
    ) -> Result<Self, ToolError> {
        let binary = match &compared.version {
            Some(version) => {
                let folder = workspace::target().join(format!("differential/{module}-{version}"));
                go::build_release(version, module, "./differential", &folder)?
            }
            None => {
                let binary = workspace::target().join(format!("differential-{module}"));
                go::build(module, "./differential", &binary)?;
                binary
            }
        };
        LineProcess::start(Command::new(binary).args(arguments)).map(ReferenceProgram)
    }

    /// Sends a question; the answers come in the order of the questions.
    ///
    /// # Errors
    /// The program reads no more.
    pub fn ask(&mut self, question: &impl Serialize) -> Result<(), ToolError> {
        let line = serde_json::to_string(question).map_err(|error| error.to_string())?;
        self.0.send(&line)
    }

    /// The next answer, in which values may be nested as deep as expressions.
    ///
    /// # Errors
    /// The program has ended.
    pub fn answer(&mut self) -> Result<ReferenceAnswer, ToolError> {
        let line = settle_spaces(&self.0.receive()?);
        let mut deserializer = serde_json::Deserializer::from_str(&line);
        deserializer.disable_recursion_limit();
        let answer = AnswerLine::deserialize(&mut deserializer);
        let AnswerLine { mut outcomes, error } =
            answer.map_err(|error| ToolError::from(format!("{error}: {line}")))?;
        if !error.is_empty() {
            return Ok(Err(error));
        }
        for status in outcomes
            .iter_mut()
            .flatten()
            .filter_map(|outcome| outcome.get_mut("status"))
        {
            // Our outcomes have no more of a status than this.
            if let Value::Object(status) = status {
                status.retain(|name, _| {
                    !matches!(name.as_str(), "kind" | "apiVersion" | "metadata" | "status")
                });
            }
        }
        Ok(Ok(outcomes))
    }
}

#[cfg(test)]
mod tests {
    use super::settle_spaces;

    #[test]
    fn spaces_of_a_build_are_settled() {
        let line = "{\"a\": \"proto:\u{a0}invalid type, type_url:\\\"x\\\"  value:1\"}";
        let settled = "{\"a\": \"proto: invalid type, type_url:\\\"x\\\" value:1\"}";
        assert_eq!(settle_spaces(line), settled);
        assert_eq!(settle_spaces(settled), settled);
    }
}
