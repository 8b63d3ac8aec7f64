//! Prints the results of a run.

use super::run::TestRun;
use super::{github, human, json, junit};
use crate::arguments::{TestArguments, TestFormat};
use crate::check::levels::WarningLevels;
use crate::exit::CliError;
use crate::input::WithPassedOver;
use crate::output;
use crate::output_target::{self, OutputTarget};
use crate::project;
use crate::style::StreamStyle;

/// Prints the results.
pub(super) fn report(run: &TestRun, arguments: &TestArguments) -> Result<(), CliError> {
    let levels = WarningLevels::new(&arguments.warnings);
    run.lints.report(&levels);
    let lints = run.lints.findings(&levels);
    let outputs = OutputTarget::open_all(&arguments.outputs.choices()?)?;
    output_target::print_all(outputs, |format, is_stdout| match format {
        TestFormat::Human => output::print(&human::human(run, arguments.verbose, StreamStyle::of_stdout())),
        TestFormat::Json => project::print_with_report(
            "test",
            &WithPassedOver {
                value: json::TestReport::new(run, run.lints.findings(&levels)),
                passed_over: run.passed_over.json(arguments.verbose),
            },
        ),
        TestFormat::Junit => {
            if is_stdout {
                output::eprint(&run.passed_over.to_text(arguments.verbose));
            }
            output::print_xml(&junit::junit(run, &lints, &levels))
        }
        TestFormat::Github => output::print_github(&github::github(run, &lints, arguments.verbose)),
    })
}
