//! What is said of static manifests that a server of the release would not read.

use std::sync::{Mutex, PoisonError};

use pratique_manifest::ManifestSet;
use pratique_policy::Origin;
use pratique_schema::FeatureGates;

use crate::output;
use crate::output::text::text;

/// Whether there are static manifests among these. An AdmissionConfiguration has none in a server that does not read any.
pub(crate) fn has_static(sets: &[(Origin, ManifestSet)]) -> bool {
    let mut of_static = sets.iter().filter(|(origin, _)| *origin == Origin::Static);
    of_static.any(|(_, set)| set.objects().next().is_some())
}

/// Tells, once for each server, that static manifests are evaluated although it does not read any.
pub(crate) fn tell_unread_manifests(gates: FeatureGates) {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let Some(note) = unread_manifests(gates) else {
        return;
    };
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.contains(&note) {
        output::eprint(&output::note(&text!("{}", note)));
        told.push(note);
    }
}

/// What is said of static manifests where a server does not read any: they are evaluated as its policies may be some day.
pub(crate) fn unread_manifests(gates: FeatureGates) -> Option<String> {
    const GATE: &str = "ManifestBasedAdmissionControlConfig";
    let is_known = gates.release().gates().get(GATE).is_some();
    let why = if is_known {
        format!("for which the feature gate {GATE} is off")
    } else {
        "which servers do since Kubernetes 1.36".to_owned()
    };
    (!gates.reads_manifests())
        .then(|| format!("static manifests are evaluated as if the server read them, {why}"))
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[test]
    fn servers_that_do_not_read_manifests_are_told() {
        for release in Release::list().iter().copied() {
            let note = unread_manifests(FeatureGates::new(release)).unwrap_or_default();
            let why = if release.at_least(1, 37) {
                ""
            } else if release.at_least(1, 36) {
                "for which the feature gate ManifestBasedAdmissionControlConfig is off"
            } else {
                "which servers do since Kubernetes 1.36"
            };
            assert!(
                note.ends_with(why) && note.is_empty() == why.is_empty(),
                "{release}: {note}"
            );
        }
    }
}
