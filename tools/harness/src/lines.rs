//! A program that answers lines on stdin with lines on stdout, in their order.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use crate::error::ToolError;

/// A running program. It is killed on drop.
#[derive(Debug)]
pub struct LineProcess {
    name: String,
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
}

impl LineProcess {
    /// Starts a program.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(command: &mut Command) -> Result<Self, ToolError> {
        let name = command.get_program().display().to_string();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(ToolError::program(&name))?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let (sender, output) = channel();
        // The program may write while it is written to, so its lines are read on a separate thread.
        std::thread::spawn(move || {
            for line in lines.lines() {
                let sent = line.map(|line| sender.send(line));
                if !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        Ok(LineProcess {
            name,
            child,
            input,
            output,
        })
    }

    /// The path of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a line.
    ///
    /// # Errors
    /// When the program reads no more.
    pub fn send(&mut self, line: &str) -> Result<(), ToolError> {
        let sent = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        sent.map_err(ToolError::program(&self.name))
    }

    /// Waits for the next line.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn receive(&mut self) -> Result<String, ToolError> {
        let line = self.output.recv();
        line.map_err(|_| ToolError::from(format!("{}: ended early", self.name)))
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_order() {
        let mut cat = LineProcess::start(&mut Command::new("cat")).unwrap();
        for line in ["a", "b"] {
            cat.send(line).unwrap();
        }
        assert_eq!(["a", "b"].map(|_| cat.receive().unwrap()), ["a", "b"]);
    }

    #[test]
    fn a_program_that_ends_answers_no_more() {
        let mut ended = LineProcess::start(&mut Command::new("true")).unwrap();
        assert_eq!(ended.receive().unwrap_err().to_string(), "true: ended early");
    }
}
