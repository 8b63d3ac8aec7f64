//! Logging on standard error.

use std::fmt::{self, Debug, Write as _};
use std::io::{self, IsTerminal, Write};
use std::panic::{self, PanicHookInfo};
use std::time::Duration;

use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{self, Writer};

use super::log_writer::LogWriter;
use crate::arguments::{LogFormat, LogLevel};
use crate::output::json::visible_line;
use crate::output::text::{EscapingWriter, PrintableText, printed, without_commands};

/// How long shutdown waits for queued lines. The last ones say why it ends, and a busy machine takes its time.
const LAST_LINES: Duration = Duration::from_secs(2);

/// The log of a server.
#[derive(Clone, Debug)]
pub(super) struct ServerLogging {
    pub(super) writer: LogWriter,
    format: LogFormat,
}

/// Starts logging, panics included.
pub(super) fn start(format: LogFormat, level: LogLevel) -> io::Result<ServerLogging> {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let colour =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let writer = LogWriter::start(standard_error()?)?;
    let queue = writer.clone();
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(colour)
        .with_target(false)
        .log_internal_errors(false);
    // It is started once.
    let _ = match format {
        LogFormat::Text => {
            let lines = lines.with_writer(move || queue.clone());
            lines.fmt_fields(fields()).try_init()
        }
        LogFormat::Json => {
            let lines = lines.with_writer(move || JsonLines(queue.clone()));
            lines.json().flatten_event(true).try_init()
        }
    };
    panic::set_hook(Box::new(log_panic));
    Ok(ServerLogging { writer, format })
}

/// A writer of JSON lines that escapes invisible characters.
struct JsonLines(LogWriter);

impl Write for JsonLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(&visible_line(line));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Formats fields as text. Names and messages are escaped, so that they cannot end a line or act on a terminal or CI
/// runner.
fn fields() -> impl for<'w> FormatFields<'w> + 'static {
    format::debug_fn(field).delimited(" ")
}

fn field(out: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let mut text = String::new();
    write!(EscapingWriter(&mut text), "{value:?}")?;
    let text = without_commands(&text);
    match field.name() {
        "message" => write!(out, "{text}"),
        name if out.has_ansi_escapes() => {
            write!(out, "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m{text}")
        }
        name => write!(out, "{name}={text}"),
    }
}

impl ServerLogging {
    /// Prints a note: as text, or as a JSON line.
    pub(super) fn note(&self, text: &PrintableText) {
        match self.format {
            LogFormat::Text => self.writer.push(printed(text).as_bytes()),
            LogFormat::Json => tracing::warn!("{}", text.as_str().trim_end()),
        }
    }

    /// Prints why the server does not start or stops.
    pub(super) fn fail(&self, text: &PrintableText) {
        match self.format {
            LogFormat::Text => self.writer.push(printed(text).as_bytes()),
            LogFormat::Json => {
                let text = text.as_str().trim_end();
                let err = text.strip_prefix("error: ").unwrap_or(text);
                tracing::error!(err, "Not serving");
            }
        }
    }

    /// Whether the log has lines of text.
    pub(super) fn is_text(&self) -> bool {
        self.format == LogFormat::Text
    }

    /// Waits for queued lines, within bounds.
    pub(super) fn flush(&self) {
        self.writer.flush(LAST_LINES);
    }
}

/// Standard error without the standard library's lock, which a blocked write would hold.
#[cfg(unix)]
fn standard_error() -> io::Result<impl Write + Send + 'static> {
    use std::os::fd::AsFd;

    let copy = io::stderr().as_fd().try_clone_to_owned()?;
    Ok(std::fs::File::from(copy))
}

/// Standard error.
#[cfg(not(unix))]
fn standard_error() -> io::Result<impl Write + Send + 'static> {
    Ok(io::stderr())
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let message = info.payload_as_str().unwrap_or("a panic without a message");
    let thread = std::thread::current();
    tracing::error!(
        err = message,
        place,
        thread = thread.name().unwrap_or_default(),
        "A thread panicked"
    );
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(text);
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn names_end_no_lines() {
        let captured = Captured::default();
        let writer = captured.clone();
        let lines = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .with_ansi(false)
            .with_target(false)
            .without_time()
            .fmt_fields(fields())
            .finish();
        tracing::subscriber::with_default(lines, || {
            let error = io::Error::other("c\n::x::");
            let error: &(dyn std::error::Error + 'static) = &error;
            tracing::info!(name = "a\n\u{202e}", shown = %"b\n##[error]\u{1b}[2J", error, "said {}", "\n::error::\u{9b}");
        });
        let text = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
        assert_eq!(
            text,
            " INFO said \\n::error::\\u{9b} name=\"a\\n\\u{202e}\" shown=b\\n#\\u{23}[error]\\u{1b}[2J error=c\\n::x::\n"
        );
    }
}
