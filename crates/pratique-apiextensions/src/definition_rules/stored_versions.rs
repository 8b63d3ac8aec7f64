//! The versions in which objects were stored.

use std::collections::BTreeMap;

use pratique_types::field::BadValue;
use pratique_validation::rules::{Errors, Node};

/// They stay versions of the definition, and the one that objects are stored in is one of them.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionStoredVersions
pub(super) fn validate_stored_versions(stored: &Node<'_, '_>, versions: &Node<'_, '_>, errors: &mut Errors) {
    let bad_value = || BadValue::Json(stored.value());
    if stored.is_empty() {
        return errors.invalid(stored, bad_value(), "must have at least one stored version");
    }
    let mut left = BTreeMap::new();
    for (at, name) in stored.items().enumerate() {
        left.insert(name.as_text(), at);
    }
    for version in versions.items() {
        let name = version.child("name");
        let was_stored = left.remove(name.as_text()).is_some();
        if version.child("storage").is_true() && !was_stored {
            let detail = format!("must have the storage version {}", name.as_text());
            errors.invalid(stored, bad_value(), &detail);
        }
    }
    for (name, at) in left {
        let detail = format!(
            "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage \
             migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
        );
        errors.invalid(stored.path().index(at), name, &detail);
    }
}
