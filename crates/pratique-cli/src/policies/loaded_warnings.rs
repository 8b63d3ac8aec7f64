//! Warnings about what is evaluated of policies: `check` has them among others, and every command that evaluates policies tells
//! them.

use pratique_manifest::ManifestSet;

use super::OriginSets;
use crate::input::FileSelection;
use crate::output::notice::InputNotice;
use crate::output::problems;

/// Tells which objects of policies do not count, which only some servers have, and what does not compile of those of a cluster.
pub(crate) fn tell_loaded(sets: &OriginSets, files: &FileSelection) {
    let sets: Vec<&ManifestSet> = sets.iter().map(|(_, set)| set).collect();
    let uncompiled = sets.iter().flat_map(|set| &set.uncompiled);
    for problem in uncompiled.flat_map(|failure| &failure.problems) {
        let place = problem.location.as_ref().map(problems::place).unwrap_or_default();
        let name = problem.object.as_ref();
        let name = name
            .map(|object| format!("{} {}", object.kind, object.name))
            .unwrap_or_default();
        let fault = problem.summary.as_ref().unwrap_or(&problem.message);
        files.tell(InputNotice::new(
            problem.rule.name(),
            place,
            format!(
                "{name} has an expression that does not compile, and fails whenever it is evaluated: {fault}"
            ),
        ));
    }
    for warning in pratique_lint::lint_loaded(&sets) {
        let message = match &warning.help {
            Some(help) => format!("{}: {}", warning.message, help.text),
            None => warning.message.clone(),
        };
        files.tell(InputNotice::new(
            warning.lint.name,
            problems::place(&warning.location),
            message,
        ));
    }
}
