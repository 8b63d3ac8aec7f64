//! The attributes of a request while plugins may change its object.

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, ObjectForm};

/// A request, and its object at this point of the mutating phase.
#[derive(Debug)]
pub struct MutableAttributes<'s, 'o> {
    /// The request. The object in it is that of the client; the current one is [`object`](Self::object).
    pub request: &'s AdmissionRequest<'s>,
    object: &'s mut Value<'o>,
    changed: bool,
}

impl<'s, 'o> MutableAttributes<'s, 'o> {
    /// A request with an object that is decoded and defaulted; `null` where the request has none.
    pub fn new(request: &'s AdmissionRequest<'s>, object: &'s mut Value<'o>) -> Self {
        MutableAttributes {
            request,
            object,
            changed: false,
        }
    }

    /// The object as it is now.
    pub fn object(&self) -> &Value<'o> {
        self.object
    }

    /// The object, to be changed in place. A plugin takes it only when it changes something.
    pub fn object_mut(&mut self) -> &mut Value<'o> {
        self.changed = true;
        self.object
    }

    /// Whether a plugin took the object to change it.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// The name of the object: that of the request, or else that in the object.
    pub fn object_name(&self) -> &str {
        self.as_attributes().object_name()
    }

    /// The same attributes as the validating phase has them.
    pub fn as_attributes(&self) -> Attributes<'_> {
        Attributes {
            request: self.request,
            object: self.object,
            form: ObjectForm::Settled,
        }
    }
}
