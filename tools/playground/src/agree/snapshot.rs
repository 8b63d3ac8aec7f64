//! The index of a snapshot that says of a case's cluster what its recording server knew: all objects, and what else it served.

use std::collections::BTreeMap;

use pratique_conformance::cluster::served_besides;
use pratique_state::snapshot::{Extent, SnapshotIndex, SnapshotKind, SnapshotResource};
use serde_json::Value;

use super::case::array;

/// Kinds that are looked up whether or not a case has some.
const LOOKED_UP: [(&str, &str); 5] = [
    ("v1", "Namespace"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
];

/// The index, in JSON.
pub(super) fn index(case: &Value) -> Value {
    let looked_up = LOOKED_UP.map(|(version, kind)| (version.to_owned(), kind.to_owned()));
    let params = array(case, "apiObjects").filter_map(|policy| named(policy.pointer("/spec/paramKind")?));
    let mut kinds: BTreeMap<(String, String), usize> = looked_up
        .into_iter()
        .chain(params)
        .map(|kind| (kind, 0))
        .collect();
    for kind in array(case, "objects").filter_map(named) {
        *kinds.entry(kind).or_default() += 1;
    }
    let kinds = kinds
        .into_iter()
        .map(|((api_version, kind), objects)| SnapshotKind {
            api_version,
            kind,
            objects,
            extent: Extent::All,
            reason: String::new(),
        });
    let mut index = SnapshotIndex::new();
    index.kinds = kinds.collect();
    index.served = served_besides()
        .iter()
        .map(SnapshotResource::from_served)
        .collect();
    serde_json::to_value(index).unwrap_or_default()
}

/// Whether a request is for what servers of today do not serve.
pub(super) fn is_of_other_server(case: &Value) -> bool {
    let text = |name: &str| {
        let member = case.pointer(&format!("/request/resource/{name}"));
        member.and_then(Value::as_str).unwrap_or_default()
    };
    let served = served_besides();
    let resources = served.iter().map(|served| &served.resource);
    resources
        .into_iter()
        .any(|resource| resource.group == text("group") && resource.version == text("version"))
}

/// Version and kind.
fn named(object: &Value) -> Option<(String, String)> {
    let text = |name: &str| Some(object.get(name)?.as_str()?.to_owned());
    Some((text("apiVersion")?, text("kind")?))
}
