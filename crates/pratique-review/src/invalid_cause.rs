//! Why a server's own validation refuses an object, field by field, and what can be done.

mod origin;
mod reference;

use pratique::api_objects::InvalidObject;
use pratique_gotext::suggest::{did_you_mean, nearest};
use pratique_json::Value;
use pratique_types::field::ErrorKind;
use pratique_types::{AdmissionRequest, Reason, Status, StatusCause};
use pratique_validation::{Candidate, FieldFault};
use serde::Serialize;

use crate::field_path::FieldPath;
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
    /// The step of the chain that made the object so, where it was right before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl From<&StatusCause> for InvalidCause {
    fn from(cause: &StatusCause) -> Self {
        InvalidCause {
            field: cause.field.clone(),
            reason: cause.reason.clone(),
            message: cause.message.clone(),
            help: None,
            origin: None,
        }
    }
}

/// How many causes get help: it compares a name with all that are there.
const MAX_HELPED: usize = 100;

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
        let causes = status.details.iter().flat_map(|details| &details.causes);
        return causes.map(InvalidCause::from).collect();
    };
    let candidate = Candidate::new(&request.kind, &invalid.object).of_subresource(&request.sub_resource);
    let validator = validator(invalid.gates);
    let faults = validator.faults(&candidate, &invalid.old_object);
    let origins = origin::origins(validator, (candidate, &invalid.old_object), &faults, changes);
    let explained = faults.iter().zip(origins).enumerate();
    let explained = explained.map(|(at, (fault, origin))| InvalidCause {
        help: (at < MAX_HELPED).then(|| help(fault, &invalid.object)).flatten(),
        origin,
        ..InvalidCause::from(&fault.cause)
    });
    explained.collect()
}

/// What can be done about a field, if that is known.
fn help(fault: &FieldFault, object: &Value<'_>) -> Option<String> {
    let path = FieldPath::parse(&fault.cause.field);
    match fault.kind {
        ErrorKind::NotSupported => {
            let value = path.value(object)?.as_str()?;
            let meant = nearest(value, fault.supported.iter().map(String::as_str))?;
            Some(did_you_mean(meant))
        }
        ErrorKind::NotFound => reference::help(&path, object),
        _ => None,
    }
}
