//! The reference: a Go program that answers batches of expressions.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
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

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answers {
    outcomes: Vec<Vec<Outcome>>,
    error: String,
}

/// The program, running.
pub(super) struct Reference {
    process: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
}

impl Reference {
    /// Builds the program into the target directory.
    pub(super) fn build(workspace: &Path) -> Result<std::path::PathBuf, String> {
        let binary = target(workspace).join("differential-cel");
        let status = Command::new("go")
            .args(["build", "-o"])
            .arg(&binary)
            .arg("./differential")
            .current_dir(workspace.join("xtask/go/cel"))
            .status()
            .map_err(|error| format!("the reference needs Go: {error}"))?;
        match status.success() {
            true => Ok(binary),
            false => Err("the reference does not build".to_owned()),
        }
    }

    /// Starts the program.
    pub(super) fn start(binary: &Path) -> Result<Self, String> {
        let mut process = Command::new(binary)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let questions = process.stdin.take().ok_or("no stdin")?;
        let output = process.stdout.take().ok_or("no stdout")?;
        let (sender, answers) = channel();
        // The program may be writing while we are: somebody has to read all the time.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let sent = line.map(|line| sender.send(line));
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        Ok(Reference {
            process,
            questions,
            answers,
        })
    }

    /// Asks; the answers come in the order of the questions.
    pub(super) fn ask(&mut self, batch: &Batch<'_>) -> Result<(), String> {
        let mut line = serde_json::to_vec(batch).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let sent = self
            .questions
            .write_all(&line)
            .and_then(|()| self.questions.flush());
        sent.map_err(|error| format!("the reference takes no questions: {error}"))
    }

    /// The next answer: for each expression the different outcomes that were seen.
    pub(super) fn answer(&mut self) -> Result<Vec<Vec<Outcome>>, String> {
        let line = self.answers.recv().map_err(|_| "the reference ended")?;
        let mut deserializer = serde_json::Deserializer::from_str(&line);
        // Values may be nested as deep as expressions.
        deserializer.disable_recursion_limit();
        let answers = Answers::deserialize(&mut deserializer).map_err(|error| format!("{error}: {line}"))?;
        match answers.error.is_empty() {
            true => Ok(answers.outcomes),
            false => Err(answers.error),
        }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where Cargo puts what it builds.
fn target(workspace: &Path) -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), Into::into)
}
