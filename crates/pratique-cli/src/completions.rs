//! The command `completions`.

use clap::CommandFactory as _;

use crate::arguments::{CompletionsArguments, ProgramArguments};
use crate::exit::{CliError, ExitStatus};
use crate::output::{self, script::InlineScript};

/// Prints the script for a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<ExitStatus, CliError> {
    output::print_script(&InlineScript::completions(
        ProgramArguments::command(),
        arguments.shell,
    ))?;
    Ok(ExitStatus::Success)
}
