//! Standard input and output as a connection to a client.
//!
//! The length of a message is one that the client says. It is not believed: memory is taken for what has come, and for no more than
//! a bound.

use std::io::{self, BufRead, ErrorKind, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::{Connection, Message};

/// The largest message, in bytes. Documents are sent whole when they are opened.
const MAX_MESSAGE: usize = 64 << 20;

/// The longest line of a header, in bytes, and how many lines there may be.
const MAX_HEADER: u64 = 4096;
const MAX_HEADERS: usize = 64;

/// The threads that read and write a connection.
#[derive(Debug)]
pub struct StdioThreads {
    reader: JoinHandle<()>,
    writer: JoinHandle<io::Result<()>>,
    read_error: Arc<Mutex<Option<io::Error>>>,
}

/// A connection on standard input and output.
///
/// # Errors
/// The system gives no threads.
pub fn stdio() -> io::Result<(Connection, StdioThreads)> {
    // Neither side runs ahead of the other. One message may wait: a session asks whether one does before it begins what takes long, and
    // a channel without room never has one.
    let (sender, to_write) = bounded(0);
    let (received, receiver) = bounded(1);
    let read_error = Arc::new(Mutex::new(None));
    let fault = Arc::clone(&read_error);
    let reader = thread::Builder::new()
        .name("lsp-reader".to_owned())
        .spawn(move || {
            if let Err(error) = read_messages(&mut io::stdin().lock(), &received) {
                *fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            // Only now the session sees that no more comes.
            drop(received);
        })?;
    let writer = thread::Builder::new()
        .name("lsp-writer".to_owned())
        .spawn(move || write_messages(&to_write))?;
    let threads = StdioThreads {
        reader,
        writer,
        read_error,
    };
    Ok((Connection { sender, receiver }, threads))
}

impl StdioThreads {
    /// Why nothing more was read of the client, if that has failed.
    pub fn read_error(&self) -> Option<io::Error> {
        self.read_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Waits until all is written, after a session that the client has ended.
    ///
    /// # Errors
    /// Reading or writing has failed.
    pub fn join(self) -> io::Result<()> {
        let ended = |_| io::Error::other("a thread of the connection has panicked");
        self.reader.join().map_err(ended)?;
        self.writer.join().map_err(ended)??;
        let error = self
            .read_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        error.map_or(Ok(()), Err)
    }
}

fn read_messages(input: &mut impl BufRead, received: &Sender<Message>) -> io::Result<()> {
    while let Some(message) = read_message(input)? {
        let is_exit =
            matches!(&message, Message::Notification(notification) if notification.method == "exit");
        // Nobody receives once the session has ended.
        if received.send(message).is_err() || is_exit {
            break;
        }
    }
    Ok(())
}

fn write_messages(to_write: &Receiver<Message>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    to_write.iter().try_for_each(|message| message.write(&mut output))
}

/// Reads a message; `None` at the end of the input.
fn read_message(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let Some(length) = read_headers(input)? else {
        return Ok(None);
    };
    if length > MAX_MESSAGE as u64 {
        return Err(invalid(format!(
            "a message of {length} bytes: more than {} MiB are not read",
            MAX_MESSAGE >> 20
        )));
    }
    let mut text = Vec::new();
    input.by_ref().take(length).read_to_end(&mut text)?;
    if (text.len() as u64) < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| invalid(format!("a message that cannot be read: {error}")))
}

/// Reads the headers of a message, and gives its length; `None` at the end of the input.
fn read_headers(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    for number in 0..MAX_HEADERS {
        let mut line = Vec::new();
        input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)?;
        if line.is_empty() && number == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        let Some(line) = line.strip_suffix('\n') else {
            return Err(if line.len() as u64 >= MAX_HEADER {
                invalid("a header that is too long".to_owned())
            } else {
                ErrorKind::UnexpectedEof.into()
            });
        };
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            let missing = || invalid("a message without Content-Length".to_owned());
            return length.ok_or_else(missing).map(Some);
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| invalid(format!("a header that is none: {line:?}")))?;
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let parsed = value.trim().parse();
            length = Some(parsed.map_err(|_| invalid(format!("a Content-Length of {:?}", value.trim())))?);
        }
    }
    Err(invalid("too many headers".to_owned()))
}

fn invalid(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The method of a message, or why it is not read.
    #[track_caller]
    fn check(text: &str, expected: Result<Option<&str>, &str>) {
        let method = |message| match message {
            Message::Notification(notification) => notification.method,
            other => format!("{other:?}"),
        };
        let read = read_message(&mut text.as_bytes());
        let read = read
            .map(|message| message.map(method))
            .map_err(|error| error.to_string());
        let expected = expected.map(|method| method.map(str::to_owned));
        assert_eq!(read, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn messages_have_a_bound() {
        let message = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let with = |header: &str| format!("{header}\r\n\r\n{message}");
        let length = message.len();
        check(&with(&format!("Content-Length: {length}")), Ok(Some("exit")));
        check(
            &with(&format!("Content-Type: x\r\ncontent-length:{length}")),
            Ok(Some("exit")),
        );
        check("", Ok(None));
        check(
            &with("Content-Length: 999999999999"),
            Err("a message of 999999999999 bytes: more than 64 MiB are not read"),
        );
        check(&with("Content-Length: 60000000"), Err("unexpected end of file"));
        check(
            &with("Content-Length: 99999999999999999999999"),
            Err("a Content-Length of \"99999999999999999999999\""),
        );
        check(&with("Content-Length: -1"), Err("a Content-Length of \"-1\""));
        check(&with("X: y"), Err("a message without Content-Length"));
        check(&with("x"), Err("a header that is none: \"x\""));
        check("Content-Length: 1", Err("unexpected end of file"));
        check(&"x".repeat(1 << 20), Err("a header that is too long"));
        check(&"x: y\n".repeat(1000), Err("too many headers"));
    }
}
