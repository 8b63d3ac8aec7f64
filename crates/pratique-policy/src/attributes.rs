//! The attributes of a request.

use pratique_json as json;
use pratique_types::{AdmissionRequest, ObjectForm};

use crate::typed;

/// A request, and its object as it is by now.
// Upstream: apiserver/pkg/admission/interfaces.go, Attributes
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'s> {
    /// The request.
    pub request: &'s AdmissionRequest<'s>,
    /// What it asks to store, perhaps mutated meanwhile.
    pub object: &'s json::Value<'s>,
    /// What is known of the form of that.
    pub form: ObjectForm,
}

impl<'s> Attributes<'s> {
    /// A request with what mutating policies made of its object, which they leave in the form of its kind.
    pub fn mutated(request: &'s AdmissionRequest<'s>, object: &'s json::Value<'s>) -> Self {
        let form = match typed::keeps_form(&request.kind) {
            true => ObjectForm::Settled,
            false => ObjectForm::Written,
        };
        Attributes {
            request,
            object,
            form,
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
