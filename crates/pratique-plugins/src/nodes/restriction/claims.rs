//! The status of claims, which a node updates after it has resized a volume.

use pratique_json::{Object, Value};
use pratique_plugin::Rejection;
use pratique_types::Operation;

use super::NodeRequest;
use super::claim_diff::difference;
use crate::object::members;
use crate::pods::quantity;

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitPVCStatus
pub(super) fn check_status(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let operation = request.operation();
    if operation != Operation::Update {
        return Err(request.forbidden(format!("unexpected operation \"{operation}\"")));
    }
    let (old, new) = (request.old_object(), request.object());
    request.require(old, "", "PersistentVolumeClaim")?;
    request.require(new, "", "PersistentVolumeClaim")?;
    let unchanged = ["metadata", "spec", "status"]
        .into_iter()
        .all(|part| is_same(part, old, new));
    if unchanged {
        Ok(())
    } else {
        let (node, difference) = (request.quoted_node(), difference(old, new, request.release));
        Err(request.forbidden(format!(
            "node {node} is not allowed to update fields other than status.quantity and status.conditions: \
                 {difference}"
        )))
    }
}

/// The fields that a node may change, and those that the server sets.
const FREE: [(&str, &[&str]); 3] = [
    ("metadata", &["resourceVersion", "managedFields"]),
    ("spec", &[]),
    (
        "status",
        &[
            "capacity",
            "conditions",
            "allocatedResources",
            "allocatedResourceStatuses",
        ],
    ),
];

/// The defaults of fields of a claim.
const DEFAULTS: [(&str, &str); 2] = [("volumeMode", "Filesystem"), ("phase", "Pending")];

fn is_same(part: &str, old: &Value<'_>, new: &Value<'_>) -> bool {
    let free = FREE
        .iter()
        .find(|(other, _)| *other == part)
        .map_or(&[][..], |(_, free)| free);
    let none = Object::new();
    let old = members(old, &[part]).unwrap_or(&none);
    let new = members(new, &[part]).unwrap_or(&none);
    let mut keys = old.iter().chain(new.iter()).map(|(key, _)| key);
    keys.all(|key| free.contains(&key) || is_same_field(key, old.get(key), new.get(key)))
}

/// Fields that are pointers in Go: one to something empty is not nil.
const POINTERS: [&str; 8] = [
    "currentVolumeAttributesClassName",
    "dataSource",
    "dataSourceRef",
    "healthStatus",
    "modifyVolumeStatus",
    "selector",
    "storageClassName",
    "volumeAttributesClassName",
];

fn is_same_field(key: &str, old: Option<&Value<'_>>, new: Option<&Value<'_>>) -> bool {
    let is_set = |value: Option<&Value<'_>>| value.is_some_and(|value| !value.is_null());
    if POINTERS.contains(&key) && is_set(old) != is_set(new) {
        return false;
    }
    let or_default = |value: Option<&Value<'_>>| -> Option<Value<'static>> {
        let value = value.filter(|value| !value.is_empty());
        let part = value.map(|value| value.clone().into_owned());
        part.or_else(|| {
            let default = DEFAULTS.iter().find(|(other, _)| *other == key);
            default.map(|(_, value)| Value::from(*value))
        })
    };
    match (key, old, new) {
        ("resources", Some(old), Some(new)) => ["requests", "limits"].iter().all(|list| {
            let quantities = |value| {
                let members = members(value, &[list]).into_iter().flat_map(Object::iter);
                members.map(|(name, value)| (name, quantity(value)))
            };
            quantities(old).eq(quantities(new))
        }),
        _ => or_default(old) == or_default(new),
    }
}
