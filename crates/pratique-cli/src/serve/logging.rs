//! What happens, line by line, on standard error.

use std::io::{self, IsTerminal};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;

use crate::arguments::{LogFormat, LogLevel};

/// Begins to print what happens.
pub(super) fn start(format: LogFormat, level: LogLevel) {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let colour =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        .with_ansi(colour)
        .with_target(false);
    // It is started once.
    let _ = match format {
        LogFormat::Human => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}
