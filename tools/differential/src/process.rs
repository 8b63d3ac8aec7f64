//! A reference: a Go program that answers lines of JSON on stdin with lines of JSON on stdout, in their order.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use pratique_harness::{go, workspace};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Builds the program of a Go module into the target directory.
pub(super) fn build(module: &str) -> Result<PathBuf, String> {
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
pub(super) struct Process {
    process: Child,
    questions: ChildStdin,
    answers: Receiver<String>,
}

impl Process {
    /// Starts a program.
    pub(super) fn start(binary: &Path, arguments: &[&OsStr]) -> Result<Self, String> {
        let mut process = Command::new(binary)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        let questions = process.stdin.take().ok_or("no stdin")?;
        let output = process.stdout.take().ok_or("no stdout")?;
        let (sender, answers) = channel();
        // The program may be writing while we are, so its answers are read on a thread of their own.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let sent = line.map(|line| sender.send(line));
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        Ok(Process {
            process,
            questions,
            answers,
        })
    }

    /// Asks; the answers come in the order of the questions.
    pub(super) fn ask(&mut self, question: &impl Serialize) -> Result<(), String> {
        let mut line = serde_json::to_vec(question).map_err(|error| error.to_string())?;
        line.push(b'\n');
        let sent = self
            .questions
            .write_all(&line)
            .and_then(|()| self.questions.flush());
        sent.map_err(|error| format!("the reference takes no questions: {error}"))
    }

    /// The next answer, in which values may be nested as deep as expressions.
    pub(super) fn answer<O: DeserializeOwned>(&mut self) -> Result<Answers<O>, String> {
        let line = self.answers.recv();
        let line = line.map_err(|_| "the reference ended".to_owned())?;
        let mut deserializer = serde_json::Deserializer::from_str(&line);
        deserializer.disable_recursion_limit();
        Answers::deserialize(&mut deserializer).map_err(|error| format!("{error}: {line}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
