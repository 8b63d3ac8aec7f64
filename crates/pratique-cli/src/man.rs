//! The command `man`.

use std::fs;

use clap::CommandFactory as _;
use pratique_manifest::path_text;

use crate::arguments::{ManArguments, ProgramArguments};
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::text::text;

/// Writes a page for the program and one for each command.
pub(crate) fn run(arguments: &ManArguments) -> Result<ExitStatus, CliError> {
    let directory = &arguments.directory;
    let failed = |error| CliError::unread(directory, error);
    fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(ProgramArguments::command(), directory).map_err(failed)?;
    output::eprint(&text!("{}: the manual pages are written\n", path_text(directory)));
    Ok(ExitStatus::Success)
}
