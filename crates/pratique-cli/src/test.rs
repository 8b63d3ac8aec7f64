//! `pratique test`: runs test suites of policies.

mod cluster;
mod find;
mod github;
mod human;
mod init;
mod json;
mod junit;
mod lints;
mod report;
mod run;
pub(crate) mod test_error;
mod update;
mod watch;

use crate::arguments::TestArguments;
use crate::exit::{CliError, ExitStatus};
use crate::output_target;
use report::report;
use run::once;

/// Runs all suites, once or on every change; succeeds if everything is as expected.
pub(crate) fn run(arguments: &TestArguments) -> Result<ExitStatus, CliError> {
    if arguments.init {
        return init::run(arguments);
    }
    output_target::verify(&arguments.outputs.choices()?)?;
    if arguments.watch {
        return watch::watch(arguments);
    }
    let run = once(arguments)?;
    report(&run, arguments)?;
    Ok(run.exit_status())
}
