//! PersistentVolumeClaims: the two fields that name a source of data.
// Upstream: pkg/registry/core/persistentvolumeclaim/strategy.go, pkg/api/persistentvolumeclaim/util.go

use pratique_json::{Object, Value};

use crate::edited_object::EditedObject;
use crate::object::{self, FieldPath};
use crate::strategy::{PartEndpoint, ResourceStrategy};

pub(super) const STRATEGY: ResourceStrategy = ResourceStrategy::new("", "PersistentVolumeClaim")
    .status(PartEndpoint::STATUS.and(|context, object, old| {
        // Upstream: pkg/api/persistentvolumeclaim/util.go, DropDisabledFieldsFromStatus
        let path = &["status", "healthStatus"];
        context
            .dropper
            .drop_field(object, Some(old), "CSIVolumeHealth", path);
    }))
    .prepare(
        |_, object| prepare(object, None),
        |_, object, old| prepare(object, Some(old)),
    );

const SOURCE: FieldPath<'static> = &["spec", "dataSource"];
const REFERENCE: FieldPath<'static> = &["spec", "dataSourceRef"];
const NAMESPACE: FieldPath<'static> = &["spec", "dataSourceRef", "namespace"];

fn prepare<'v>(object: &mut EditedObject<'v>, old: Option<&Value<'v>>) {
    let had = |path| old.is_some_and(|old| object::has(old, path));
    if !object::text(object, NAMESPACE).is_empty() && !had(REFERENCE) {
        object::remove(object, REFERENCE);
    }
    let in_use = had(SOURCE) || had(REFERENCE);
    if !in_use && !object::has(object, REFERENCE) && !is_claim_or_snapshot(object) {
        object::remove(object, SOURCE);
    }
    normalize(object);
}

// Upstream: pkg/api/persistentvolumeclaim/util.go, dataSourceIsPvcOrSnapshot
fn is_claim_or_snapshot(object: &Value<'_>) -> bool {
    let Some(source) = object.at(SOURCE) else {
        return false;
    };
    matches!(
        (
            object::text(source, &["kind"]),
            object::text(source, &["apiGroup"])
        ),
        ("PersistentVolumeClaim", "") | ("VolumeSnapshot", "snapshot.storage.k8s.io")
    )
}

/// Copies either of the two fields to the other one.
// Upstream: pkg/api/persistentvolumeclaim/util.go, NormalizeDataSources
pub(super) fn normalize(object: &mut EditedObject<'_>) {
    match (object.at(SOURCE), object.at(REFERENCE)) {
        (Some(source), None) => {
            let reference = copy_of_source(source);
            object::set(object, REFERENCE, reference);
        }
        (None, Some(reference)) if object::text(object, NAMESPACE).is_empty() => {
            let source = copy_of_source(reference);
            object::set(object, SOURCE, source);
        }
        _ => {}
    }
}

fn copy_of_source<'v>(from: &Value<'v>) -> Object<'v> {
    let mut to = Object::new();
    for name in ["apiGroup", "kind", "name"] {
        to.insert(name, from.get(name).cloned().unwrap_or_default());
    }
    to
}
