//! The kinds that are known, as the registry works on them.

use pratique_json::Value;
use pratique_registry::{Decoded, FieldValidation, Scheme, Store};
use pratique_types::{GroupVersionKind, Reason, Status};

use super::ApiObjects;

impl Scheme for ApiObjects {
    fn decode(
        &self,
        kind: &GroupVersionKind,
        body: &[u8],
        validation: FieldValidation,
    ) -> Result<Decoded, Box<Status>> {
        Scheme::decode(&self.builtin, kind, body, validation)
    }

    fn default_again(&self, kind: &GroupVersionKind, object: &mut Value<'static>) -> Result<(), Box<Status>> {
        let read = self.read(kind, object);
        read.map_err(|error| Box::new(Status::failure(Reason::BadRequest, error.to_string())))
    }

    fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'static>) {
        self.builtin.settle(kind, object);
    }

    /// What is stored is of no interest here.
    fn through_storage(&self, _: &GroupVersionKind, _: &Value<'static>) -> Value<'static> {
        Value::Null
    }
}

/// The object that a request is to change, if there is one.
pub(super) struct OldObject<'o>(pub(super) &'o Value<'static>);

impl Store for OldObject<'_> {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        (!self.0.is_null()).then(|| self.0.clone())
    }
}
