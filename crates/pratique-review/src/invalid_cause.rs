//! Why a server's own validation refuses an object, field by field, and what can be done.

mod cause_help;
mod origin;
mod reference;

use pratique::api_objects::InvalidObject;
use pratique_types::{AdmissionRequest, Reason, Status, StatusCause};
use pratique_validation::{Candidate, NamespaceView};
use serde::Serialize;

use crate::validator::validator;
pub(crate) use origin::ObjectChange;

/// A field for which an object is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvalidCause {
    /// The field, as a server writes its path.
    pub field: String,
    /// The reason for programs: `FieldValueNotSupported`.
    pub reason: String,
    /// The reason for people.
    pub message: String,
    /// What can be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What stands in the place of the value where the help says what is meant.
    #[serde(skip)]
    pub replacement: Option<String>,
    /// The step of the chain that made the object so, where it was right before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl InvalidCause {
    /// The field, the message and the step in one line.
    pub fn told(&self) -> String {
        let origin = self.origin.as_ref().map(|origin| format!(" ({origin})"));
        format!("{}: {}{}", self.field, self.message, origin.unwrap_or_default())
    }
}

impl From<&StatusCause> for InvalidCause {
    fn from(cause: &StatusCause) -> Self {
        InvalidCause {
            field: cause.field.clone(),
            reason: cause.reason.clone(),
            message: cause.message.clone(),
            help: None,
            replacement: None,
            origin: None,
        }
    }
}

/// The causes that a status by which the server itself refuses an object states.
pub(crate) fn stated_causes(status: &Status) -> Vec<InvalidCause> {
    if status.code != Reason::Invalid.code() {
        return Vec::new();
    }
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.map(InvalidCause::from).collect()
}

/// The causes of a status by which the server itself refuses an object between the phases of admission. `changes` are those of the
/// steps before, of which the first one knows the object as it was sent.
pub(crate) fn causes(
    request: &AdmissionRequest<'_>,
    status: &Status,
    invalid: Option<&InvalidObject>,
    changes: &[ObjectChange<'_>],
) -> Vec<InvalidCause> {
    if status.code != Reason::Invalid.code() {
        return Vec::new();
    }
    let Some(invalid) = invalid else {
        return stated_causes(status);
    };
    let namespace = invalid.namespace.as_ref();
    let candidate = Candidate::new(&request.kind, &invalid.object)
        .of_subresource(&request.sub_resource)
        .in_namespace(namespace.map_or(NamespaceView::Unknown, NamespaceView::Stored));
    let validator = validator(invalid.gates);
    let faults = validator.faults(&candidate, &invalid.old_object);
    // A question is no object that is validated so.
    if faults.is_empty() {
        return stated_causes(status);
    }
    let origins = origin::origins(validator, (candidate, &invalid.old_object), &faults, changes);
    let change = (candidate, &invalid.old_object);
    let helps = cause_help::find_helps(change, invalid.gates, &faults);
    let explained = faults.iter().zip(origins).zip(helps);
    let explained = explained.map(|((fault, origin), help)| {
        let (help, replacement) = help.map_or((None, None), |help| (Some(help.text), help.replacement));
        InvalidCause {
            help,
            replacement,
            origin,
            ..InvalidCause::from(&fault.cause)
        }
    });
    explained.collect()
}
