//! The attributes of a request while plugins may change its object.

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, ObjectForm};

/// A request, and its object at this point of the mutating phase.
#[derive(Debug)]
pub struct MutableAttributes<'s, 'o> {
    /// The request. The object in it is that of the client; the current one is [`object`](Self::object).
    pub request: &'s AdmissionRequest<'s>,
    object: CurrentObject<'s, 'o>,
    changed: bool,
}

/// Where the object is.
#[derive(Debug)]
enum CurrentObject<'s, 'o> {
    /// To be changed in place.
    Own(&'s mut Value<'o>),
    /// To be copied by the first change.
    Shared {
        original: &'s Value<'o>,
        copy: &'s mut Option<Value<'o>>,
    },
}

impl<'s, 'o> MutableAttributes<'s, 'o> {
    /// A request with an object that is decoded and defaulted; `null` where the request has none.
    pub fn new(request: &'s AdmissionRequest<'s>, object: &'s mut Value<'o>) -> Self {
        MutableAttributes {
            request,
            object: CurrentObject::Own(object),
            changed: false,
        }
    }

    /// As [`new`](Self::new) with an object that stays as it is: the first change is made to a copy of it.
    pub fn copy_on_write(
        request: &'s AdmissionRequest<'s>,
        original: &'s Value<'o>,
        copy: &'s mut Option<Value<'o>>,
    ) -> Self {
        MutableAttributes {
            request,
            object: CurrentObject::Shared { original, copy },
            changed: false,
        }
    }

    /// The object as it is now.
    pub fn object(&self) -> &Value<'o> {
        match &self.object {
            CurrentObject::Own(object) => object,
            CurrentObject::Shared { original, copy } => copy.as_ref().unwrap_or(original),
        }
    }

    /// The object, to be changed in place. A plugin takes it only when it changes something.
    pub fn object_mut(&mut self) -> &mut Value<'o> {
        self.changed = true;
        match &mut self.object {
            CurrentObject::Own(object) => object,
            CurrentObject::Shared { original, copy } => copy.get_or_insert_with(|| (*original).clone()),
        }
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
            object: self.object(),
            form: ObjectForm::Settled,
        }
    }
}
