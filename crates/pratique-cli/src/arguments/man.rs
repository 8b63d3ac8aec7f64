//! The command line of `pratique man`.

use std::path::PathBuf;

use clap::Args;

/// Write manual pages: pratique.1 and a page for each command.
///
/// Pages of these names that are there already are replaced. `man -l DIR/pratique.1` shows one where it is.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The directory, which is made if there is none: /usr/local/share/man/man1, for example.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
