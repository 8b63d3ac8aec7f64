//! Updates suites.

use std::fs;
use std::io;
use std::path::Path;

use pratique_manifest::ManifestFile;
use pratique_suite::{Case, CaseResult, Roots, Suite, updated};

use super::run::SuiteRun;
use crate::exit::CliError;
use crate::output;
use crate::output::text::{PrintableText, text};

/// Updates the expectations of a suite file to the actual results.
pub(super) fn update(
    path: &Path,
    file: &ManifestFile,
    suites: &[Suite],
    runs: &mut [SuiteRun],
    roots: &Roots,
) -> Result<(), CliError> {
    let mut results = Vec::new();
    for (suite, run) in suites.iter().zip(runs.iter()) {
        // Those that were tested are some of those that there are, in their order.
        let mut cases = suite.cases.iter();
        for result in &run.cases {
            let same = |case: &&Case| case.location == result.case.location;
            if let (Some(case), Ok(actual)) = (cases.find(same), &result.tested.actual) {
                results.push((suite, case, actual));
            }
        }
    }
    match updated(file, &results) {
        Ok(None) => return Ok(()),
        Ok(Some(text)) => write(path, &text, roots).map_err(|error| CliError::unread(&file.path, error))?,
        Err(why) => {
            output::eprint(&text!(
                "warning: {}: not updated: {}\n",
                file.path,
                why.to_string()
            ));
            return Ok(());
        }
    }
    let cases = runs.iter_mut().flat_map(|run| &mut run.cases);
    let changed = cases.filter(|result| !result.tested.differences.is_empty());
    let mut count = 0;
    for result in changed {
        count += 1;
        result.tested = CaseResult {
            differences: Vec::new(),
            explanation: None,
            actual: result.tested.actual.clone(),
        };
        result.explained = PrintableText::new();
        result.excerpt = PrintableText::new();
    }
    output::eprint(&text!("{}: {} updated\n", file.path, count));
    Ok(())
}

/// Writes a suite to where it is. A link that leads out of where suites can name files is not written through.
fn write(path: &Path, text: &str, roots: &Roots) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new(""));
    if !roots.permit(directory, path) {
        return Err(io::Error::other(
            "a link that leads out of the repository, which is not written through",
        ));
    }
    fs::write(path, text)
}
