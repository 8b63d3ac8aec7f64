//! The store of the registry: the old object.

use pratique_json::Value;
use pratique_registry::Store;

/// The stored object that a request changes, if there is one.
pub(super) struct OldObject<'o>(pub(super) &'o Value<'static>);

impl Store for OldObject<'_> {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        (!self.0.is_null()).then(|| self.0.clone())
    }
}
