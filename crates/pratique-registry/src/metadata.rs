//! Metadata that the server drops, fills in and reduces.

use pratique_json::Value;
use pratique_types::{Status, status};

use crate::Placeholders;
use crate::edited_object::{EditTarget, EditedObject};
use crate::object;
use crate::target::Target;

/// The longest base of a generated name.
const LONGEST_GENERATED_BASE: usize = 58;

/// Drops the fields that only the server sets.
// Upstream: apiserver/pkg/registry/rest/meta.go, WipeObjectMetaSystemFields
pub(crate) fn wipe<'v>(object: &mut impl EditTarget<'v>) {
    for field in [
        "creationTimestamp",
        "uid",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        object::remove(object, &["metadata", field]);
    }
}

/// Sets the fields that the server gives a new object, and its name if that is generated.
// Upstream: apiserver/pkg/registry/rest/meta.go, FillObjectMetaSystemFields; apiserver/pkg/registry/generic/registry/store.go, create
pub(crate) fn fill(object: &mut EditedObject<'_>, placeholders: &Placeholders) {
    object::set(
        object,
        &["metadata", "creationTimestamp"],
        placeholders.time.clone(),
    );
    object::set(object, &["metadata", "uid"], placeholders.uid.clone());
    let base = object::text(object, &["metadata", "generateName"]);
    if !base.is_empty() && object::text(object, &["metadata", "name"]).is_empty() {
        let mut end = base.len().min(LONGEST_GENERATED_BASE);
        while !base.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let name = format!(
            "{}{}",
            base.get(..end).unwrap_or_default(),
            placeholders.name_suffix
        );
        object::set(object, &["metadata", "name"], name);
    }
}

/// Fills in the namespace of the request, and refuses another one.
// Upstream: apiserver/pkg/registry/rest/meta.go, EnsureObjectNamespaceMatchesRequestNamespace
pub(crate) fn fill_namespace<'v>(
    object: &mut impl EditTarget<'v>,
    target: &Target,
) -> Result<(), Box<Status>> {
    let namespace = if target.is_namespaces() {
        ""
    } else {
        &target.namespace
    };
    let path: object::FieldPath<'_> = &["metadata", "namespace"];
    let stated = object::text(object.view(), path);
    match (stated.is_empty(), namespace.is_empty()) {
        _ if stated == namespace => {}
        (true, _) => object::set(object, path, namespace.to_owned()),
        (false, true) => drop(object::remove(object, path)),
        (false, false) => {
            return Err(Box::new(status::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            )));
        }
    }
    Ok(())
}

/// Refuses an object with another name than the path's.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, checkName
pub(crate) fn check_name(object: &Value<'_>, target: &Target) -> Result<(), Box<Status>> {
    let name = object::text(object, &["metadata", "name"]);
    if name.is_empty() {
        return Err(Box::new(status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            target.name
        ))));
    }
    if name != target.name {
        return Err(Box::new(status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            target.name
        ))));
    }
    Ok(())
}

/// Reduces owner references that are equal to one. The warning names the owners.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, dedupOwnerReferencesAndAddWarning
pub(crate) fn reduce_owner_references<'a>(object: &mut Value<'a>, mutated: bool) -> Option<String> {
    let path: object::FieldPath<'_> = &["metadata", "ownerReferences"];
    let mut kept: Vec<Value<'a>> = Vec::new();
    let mut duplicates: Vec<String> = Vec::new();
    for reference in object::list(object, path) {
        if kept.contains(reference) {
            duplicates.push(object::text(reference, &["uid"]).to_owned())
        } else {
            kept.push(reference.clone())
        }
    }
    if duplicates.is_empty() {
        return None;
    }
    object::set(object, path, kept);
    let when = if mutated {
        " after mutating admission happens"
    } else {
        ""
    };
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may \
         reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        duplicates.join(", ")
    ))
}
