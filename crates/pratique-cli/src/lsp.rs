//! `pratique lsp`: serves editors.

use pratique_lsp::Connection;

use crate::exit::{CliError, ExitStatus};

/// Serves one editor on standard input and output until it ends the session.
pub(crate) fn run() -> Result<ExitStatus, CliError> {
    let (connection, threads) = Connection::stdio();
    pratique_lsp::run(&connection)?;
    drop(connection);
    threads.join().map_err(CliError::Write)?;
    Ok(ExitStatus::Success)
}
