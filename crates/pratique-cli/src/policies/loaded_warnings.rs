//! Warnings about what is evaluated of policies: `check` has them among others, and every command that evaluates policies tells
//! them.

use pratique_manifest::ManifestSet;

use super::OriginSets;
use crate::input::FileSelection;
use crate::output::notice::InputNotice;
use crate::output::problems;

/// Tells which objects of policies do not count, and which only some servers have.
pub(crate) fn tell_loaded(sets: &OriginSets, files: &FileSelection) {
    let sets: Vec<&ManifestSet> = sets.iter().map(|(_, set)| set).collect();
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
