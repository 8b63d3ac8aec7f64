//! Writes first suites.

use std::fs::OpenOptions;
use std::io::Write as _;

use pratique_manifest::path_text;
use pratique_suite::{SuiteGates, first_suite};

use super::run::roots;
use crate::arguments::TestArguments;
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::excerpt::FileTexts;
use crate::output::problems;
use crate::output::text::text;
use crate::test::test_error::TestError;

/// The name of the file.
const FILE: &str = "suite.yaml";

/// Writes a first suite for each directory; an existing one is never overwritten. Succeeds if an object was found for all that
/// policies do.
pub(super) fn run(arguments: &TestArguments) -> Result<ExitStatus, CliError> {
    let roots = roots(arguments)?;
    arguments.gates.tell();
    let release = arguments.gates.feature_gates.release();
    let gates = SuiteGates::new(release, arguments.gates.written());
    let mut status = ExitStatus::Success;
    for directory in &arguments.paths {
        if directory.is_file() {
            let path = path_text(directory);
            return Err(CliError::Test(TestError::NoDirectory { path }));
        }
        let path = directory.join(FILE);
        let first = match first_suite(&path, &roots, &gates) {
            Ok(first) => first,
            Err(failures) => {
                problems::report(&failures, &mut FileTexts::default());
                status = ExitStatus::Failure;
                continue;
            }
        };
        let failed = |error| CliError::unread(&path, error);
        if first.found + first.missing == 0 {
            return Err(CliError::NoManifests {
                path: path_text(directory),
                count: 0,
            });
        }
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut file = created.map_err(failed)?;
        file.write_all(first.text.as_bytes()).map_err(failed)?;
        output::eprint(&text!(
            "{}: written, with {} found; {} left to be written\n",
            path_text(&path),
            counted(first.found, "object that was", "objects that were"),
            counted(first.missing, "is", "are")
        ));
        if first.missing > 0 {
            status = ExitStatus::Undecided.worse(Some(status));
        }
    }
    Ok(status)
}
