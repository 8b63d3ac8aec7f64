//! Schemas within CustomResourceDefinitions, parts of which are decoded by methods of their own.

use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

/// Gives the schemas in an object of a kind their form; whether all could be decoded.
pub(crate) fn settle(_kind: &GroupVersionKind, _object: &mut Object<'_>) -> bool {
    true
}

/// Why a schema in an object cannot be decoded.
pub(crate) fn check(_kind: &GroupVersionKind, _object: &Value<'_>) -> Result<(), String> {
    Ok(())
}
