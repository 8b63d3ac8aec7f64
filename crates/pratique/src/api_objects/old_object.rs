//! What the registry is given.

use pratique_json::Value;
use pratique_registry::Store;

/// The object that a request is to change, if there is one.
pub(super) struct OldObject<'o>(pub(super) &'o Value<'static>);

impl Store for OldObject<'_> {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        (!self.0.is_null()).then(|| self.0.clone())
    }
}
