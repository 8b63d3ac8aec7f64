//! How standard input is named.

/// The path that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// The name of standard input in messages and locations.
pub(crate) const STDIN_NAME: &str = "<stdin>";

/// The commands that take `--stdin-filename`, as a text.
pub(crate) const STDIN_FILENAME_COMMANDS: &str = "review, scan, impact and upgrade";
