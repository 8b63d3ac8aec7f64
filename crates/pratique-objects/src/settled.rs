//! Objects in the form of their kind, without defaults.

use pratique_json::{Progress, Value};
use pratique_types::GroupVersionKind;

use crate::Objects;
use crate::release::{schema, type_of};

impl Objects {
    /// Gives an object the form of its kind, as after fields were set or removed: what is empty is left out, and what is
    /// always written is there. It is not defaulted. Objects of kinds that are not built in stay as they are.
    pub fn settle(&self, kind: &GroupVersionKind, object: &mut Value<'_>) {
        if let (Some(id), Value::Object(members)) = (type_of(kind), object) {
            pratique_typed::settle_in(schema(), id, members, &Progress::unwatched());
        }
    }
}
