//! What a review of deletions does not show: a collection is deleted with requests that have no name.

use pratique_lint::find_deleted_names;
use pratique_manifest::ManifestSet;
use pratique_schema::Release;
use pratique_types::Operation;

use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::output::problems;
use crate::policies::OriginSets;

/// A notice for each policy or webhook that reads the name of a request to delete, if deletions are reviewed.
pub(super) fn notices(
    release: &'static Release,
    operation: Option<Operation>,
    sets: &OriginSets,
) -> Vec<InputNotice> {
    if operation != Some(Operation::Delete) {
        return Vec::new();
    }
    let sets: Vec<&ManifestSet> = sets.iter().map(|(_, set)| set).collect();
    let notice = |(name, location): (pratique_manifest::ObjectName, pratique_manifest::Location)| {
        let message = format!(
            "{} {} reads request.name, and requests to delete a collection, as a namespace does with all that is in it, have \
             none: they are not reviewed",
            name.kind, name.name
        );
        InputNotice::new(NOT_EVALUATED, problems::place(&location), message)
    };
    find_deleted_names(release, &sets)
        .into_iter()
        .map(notice)
        .collect()
}
