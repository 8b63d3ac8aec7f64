//! Writing what is into suites.

use std::fs;
use std::path::Path;

use pratique_manifest::ManifestFile;
use pratique_suite::{Case, Suite, Tested, updated};

use super::SuiteRun;
use crate::exit::Trouble;
use crate::output;
use crate::output::text::text;

/// Changes a file of suites where results are not as expected: they are from then on.
pub(super) fn update(
    path: &Path,
    file: &ManifestFile,
    suites: &[Suite],
    runs: &mut [SuiteRun],
) -> Result<(), Trouble> {
    let pairs = suites.iter().zip(runs.iter());
    let results = pairs.flat_map(|(suite, run)| {
        run.cases.iter().filter_map(move |own| {
            let actual = own.tested.actual.as_ref().ok()?;
            let same = |case: &&Case| case.location == own.case.location;
            Some((suite, suite.cases.iter().find(same)?, actual))
        })
    });
    let results: Vec<_> = results.collect();
    match updated(file, &results) {
        Ok(None) => return Ok(()),
        Ok(Some(text)) => fs::write(path, text).map_err(|error| Trouble::Read {
            path: file.path.clone(),
            error,
        })?,
        Err(why) => {
            output::note(&text!("warning: {}: not updated: {}\n", file.path, why));
            return Ok(());
        }
    }
    let cases = runs.iter_mut().flat_map(|run| &mut run.cases);
    let changed = cases.filter(|own| !own.tested.differences.is_empty());
    let mut count = 0;
    for own in changed {
        count += 1;
        own.tested = Tested {
            differences: Vec::new(),
            explanation: None,
            actual: own.tested.actual.clone(),
        };
    }
    output::note(&text!("{}: {} updated\n", file.path, count));
    Ok(())
}
