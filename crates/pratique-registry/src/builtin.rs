//! Built-in kinds, decoded and defaulted by `pratique-objects`.

use pratique_json::Value;
use pratique_objects::{FieldValidation, MediaType, ObjectCodec};
use pratique_schema::FeatureGates;
use pratique_types::{GroupVersionKind, ObjectForm, Status, status};

use crate::scheme::{Scheme, SchemeObject, UndecodedBody};

impl Scheme for ObjectCodec {
    fn decode(
        &self,
        kind: &GroupVersionKind,
        body: &[u8],
        validation: FieldValidation,
    ) -> Result<SchemeObject, UndecodedBody> {
        let received = self.receive(body, MediaType::Json, kind, validation)?;
        Ok(SchemeObject {
            object: received.value.owned_within(ObjectCodec::field_names(self)),
            warnings: received.warnings,
        })
    }

    fn default_again(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), Box<Status>> {
        let defaulted = self.default(kind, object);
        defaulted.map_err(|error| Box::new(status::bad_request(error.to_string())))
    }

    fn default_keeping_empty(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        form: ObjectForm,
    ) -> Result<bool, Box<Status>> {
        let defaulted = ObjectCodec::default_keeping_empty(self, kind, object, form);
        defaulted.map_err(|error| Box::new(status::bad_request(error.to_string())))
    }

    fn gates(&self) -> FeatureGates {
        ObjectCodec::gates(self)
    }

    fn field_names(&self) -> &'static str {
        ObjectCodec::field_names(self)
    }

    fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        ObjectCodec::settle(self, kind, object);
    }

    fn settle_edited(
        &self,
        kind: &GroupVersionKind,
        object: &mut Value<'_>,
        is_edited: &dyn Fn(&str) -> bool,
    ) {
        ObjectCodec::settle_edited(self, kind, object, is_edited);
    }

    fn encode(&self, kind: &GroupVersionKind, object: &Value<'static>) -> String {
        ObjectCodec::encode(self, kind, object)
    }
}
