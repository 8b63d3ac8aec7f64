//! The attributes of a request.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, ObjectForm, ObjectRef};

/// A request, and its object at this point of the chain.
// Upstream: pkg/admission/interfaces.go, Attributes
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'s> {
    /// The request.
    pub request: &'s AdmissionRequest<'s>,
    /// The object, with the changes of mutating admission so far.
    pub object: &'s Value<'s>,
    /// The form that the object is known to have.
    pub form: ObjectForm,
}

impl<'s> Attributes<'s> {
    /// A request whose object mutating policies of a server of a release changed last: they leave objects in the form of their kind.
    pub fn mutated(
        release: &'static Release,
        request: &'s AdmissionRequest<'s>,
        object: &'s Value<'s>,
    ) -> Self {
        let form = if pratique_typed::keeps_form(release, &request.kind) {
            ObjectForm::Settled
        } else {
            ObjectForm::Written
        };
        Attributes {
            request,
            object,
            form,
        }
    }

    /// A request with an object whose form is not known.
    pub fn written(request: &'s AdmissionRequest<'s>, object: &'s Value<'s>) -> Self {
        Attributes {
            request,
            object,
            form: ObjectForm::Written,
        }
    }

    /// The name of the object: that of the request, or else that in the object. A generated name is in the object by the
    /// time of validation.
    pub fn object_name(&self) -> &'s str {
        match self.request.name.as_str() {
            "" => ObjectRef::new(self.object).name(),
            name => name,
        }
    }
}

impl<'s> From<&'s AdmissionRequest<'s>> for Attributes<'s> {
    fn from(request: &'s AdmissionRequest<'s>) -> Self {
        Attributes {
            request,
            object: &request.object,
            form: request.form,
        }
    }
}
