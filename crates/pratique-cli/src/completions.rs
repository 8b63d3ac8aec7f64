//! The command `completions`.

use clap::CommandFactory as _;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::exit::{CliError, ExitStatus};
use crate::output::{self, script::Script};

/// Prints the script for a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<ExitStatus, CliError> {
    output::print_script(&Script::completions(Arguments::command(), arguments.shell))?;
    Ok(ExitStatus::Success)
}
