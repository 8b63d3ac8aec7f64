//! Objects of the API among static manifests.

use pratique_manifest::{Location, ObjectName};

use crate::lint::Lint;
use crate::warning::Warning;

pub(crate) const LINT: Lint = Lint {
    name: "mixed-origins",
    summary: "An object of the API is among static manifests: a server does not load such a directory.",
};

/// Warns of an object of the API that is beside static manifests.
pub(crate) fn check(name: &ObjectName, location: &Location) -> Warning {
    let ObjectName { kind, name: called } = name;
    Warning {
        lint: &LINT,
        message: format!(
            "{kind} {called:?} is read as an object of the API, and static manifests are beside it: kube-apiserver loads \
             no such directory"
        ),
        object: Some(name.clone()),
        field: "metadata.name".to_owned(),
        location: location.clone(),
        help: Some(
            format!(
                "as a static manifest it is named {:?}; --origin static or --origin api says what all objects are",
                format!("{called}.static.k8s.io")
            )
            .into(),
        ),
        example: None,
    }
}
