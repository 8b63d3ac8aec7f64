//! Objects as an API server sees them: what it does with them before admission, and between the steps of it.

use pratique::api_objects::{
    ApiObjects, Defaults, GivenRequest, InvalidObject, ReceiveOptions, ReceivedRequest, RequestedService,
};
use pratique::object_model::RefusedRequest;
use pratique::{ObjectModel, Outcome};
use pratique_gotext::strconv::quote;
use pratique_objects::FieldValidation;
use pratique_policy::DenialCause;
use pratique_schema::FeatureGates;
use pratique_types::GroupVersionKind;

use crate::dropped_field::DroppedField;
use crate::input::{ReceiveFailure, ReviewInput};
use crate::validator::validator;

/// The handling of objects besides admission.
#[derive(Clone, Copy, Debug)]
pub struct Preparation {
    /// How unknown and duplicate fields are treated.
    pub validation: FieldValidation,
    /// Whether it is recorded which fields were defaulted, and by whom.
    pub records_defaults: bool,
    /// Whether objects that stay as they are need no name, as in the tests of other programs.
    pub takes_nameless: bool,
    /// Whether objects of built-in kinds are validated as a server does before it stores them. Those that stay as they were written,
    /// and those that a server sent, are not.
    pub validates: bool,
    /// Whether objects of updates are manifests that are applied: what they leave out stays as it is stored.
    pub applies: bool,
}

impl Default for Preparation {
    fn default() -> Self {
        Preparation {
            validation: FieldValidation::default(),
            records_defaults: false,
            takes_nameless: false,
            validates: true,
            applies: true,
        }
    }
}

/// The object of a request, from decoding to validating admission.
#[derive(Debug)]
pub enum PreparedObject<'s> {
    /// It stays as it is: a server sent it, or it is not decoded.
    Unchanged,
    /// It stays as it was written, and needs a name.
    Given(GivenRequest),
    /// A server sent it: what policies change is defaulted.
    Sent(&'s ApiObjects),
    /// It is completed as a server does.
    Received(Box<ReceivedRequest<'s>>),
    /// The server refuses it before admission.
    Refused(Box<Outcome>),
}

impl Preparation {
    /// Does with a request what a server does before admission. Without the kinds whose objects are completed, objects stay as they
    /// are.
    pub fn prepare<'s>(
        &self,
        input: &mut ReviewInput<'_>,
        objects: Option<&'s ApiObjects>,
    ) -> PreparedObject<'s> {
        self.validate_fields(input);
        let Some(objects) = objects else {
            if input.is_sent || self.takes_nameless {
                return PreparedObject::Unchanged;
            }
            return PreparedObject::Given(GivenRequest::new(&input.request));
        };
        if input.is_sent {
            return PreparedObject::Sent(objects);
        }
        if input.received.is_err() {
            return PreparedObject::Unchanged;
        }
        match objects.receive_with(&mut input.request, self.receive_options(objects.gates())) {
            Ok(received) => {
                if let Ok(warnings) = &mut input.received {
                    warnings.extend_from_slice(received.unknown_fields());
                }
                self.validate_fields(input);
                if let Ok(warnings) = &mut input.received {
                    warnings.extend_from_slice(received.warnings());
                }
                PreparedObject::Received(Box::new(received))
            }
            Err(refused) => PreparedObject::Refused(Box::new(refused_outcome(refused))),
        }
    }

    /// How a request is received.
    pub(crate) fn receive_options(&self, gates: FeatureGates) -> ReceiveOptions<'static> {
        ReceiveOptions {
            records_defaults: self.records_defaults,
            validator: self.validates.then(|| validator(gates)),
            has_no_plugins: true,
            is_applied: self.applies,
            keeps_invalid: true,
        }
    }

    /// Refuses unknown and duplicate fields, or drops the warnings about them.
    fn validate_fields(&self, input: &mut ReviewInput<'_>) {
        if let Ok(warnings) = &mut input.received {
            let warnings = std::mem::take(warnings);
            let validated = self.validated(&input.request.kind, warnings);
            input.received = validated.map_err(ReceiveFailure::from);
        }
    }

    /// The warnings about unknown and duplicate fields.
    ///
    /// # Errors
    /// An object of the kind is refused for them.
    // Upstream: apiserver/pkg/endpoints/handlers/create.go, createHandler
    pub(crate) fn validated(
        &self,
        kind: &GroupVersionKind,
        faults: Vec<String>,
    ) -> Result<Vec<String>, String> {
        match self.validation {
            FieldValidation::Strict if !faults.is_empty() => {
                let GroupVersionKind { kind, version, .. } = kind;
                let (version, faults) = (quote(version), faults.join(", "));
                Err(format!(
                    "{kind} in version {version} cannot be handled as a {kind}: strict decoding error: {faults}"
                ))
            }
            FieldValidation::Ignore => Ok(Vec::new()),
            FieldValidation::Strict | FieldValidation::Warn => Ok(faults),
        }
    }
}

impl PreparedObject<'_> {
    /// The model by which the object is defaulted during admission.
    pub fn model(&self) -> Option<&dyn ObjectModel> {
        match self {
            PreparedObject::Unchanged | PreparedObject::Refused(_) => None,
            PreparedObject::Given(given) => Some(given),
            PreparedObject::Sent(objects) => Some(*objects),
            PreparedObject::Received(received) => Some(&**received),
        }
    }

    /// The outcome of a request that is refused before admission: its object cannot be decoded, or not be prepared.
    pub fn refusal(&self, input: &ReviewInput<'_>) -> Option<Outcome> {
        let unprepared = match self {
            PreparedObject::Refused(outcome) => Some((**outcome).clone()),
            PreparedObject::Unchanged
            | PreparedObject::Given(_)
            | PreparedObject::Sent(_)
            | PreparedObject::Received(_) => None,
        };
        input.decode_failure().or(unprepared)
    }

    /// The fields that were set in the object, if that was recorded.
    pub fn defaults(&self) -> Vec<Defaults> {
        match self {
            PreparedObject::Received(received) => received.defaults(),
            PreparedObject::Unchanged
            | PreparedObject::Given(_)
            | PreparedObject::Sent(_)
            | PreparedObject::Refused(_) => Vec::new(),
        }
    }

    /// The fields that the server dropped without a word.
    pub(crate) fn dropped_fields(&self) -> Vec<DroppedField> {
        match self {
            PreparedObject::Received(received) => dropped_fields(received),
            PreparedObject::Unchanged
            | PreparedObject::Given(_)
            | PreparedObject::Sent(_)
            | PreparedObject::Refused(_) => Vec::new(),
        }
    }

    /// The object that the server's own validation refused, if it did.
    pub(crate) fn invalid_object(&self) -> Option<InvalidObject> {
        match self {
            PreparedObject::Received(received) => received.invalid_object(),
            PreparedObject::Unchanged
            | PreparedObject::Given(_)
            | PreparedObject::Sent(_)
            | PreparedObject::Refused(_) => None,
        }
    }

    /// The Service of the request, as it asks for addresses and ports.
    pub(crate) fn requested_service(&self) -> Option<RequestedService> {
        match self {
            PreparedObject::Received(received) => received.requested_service(),
            PreparedObject::Unchanged
            | PreparedObject::Given(_)
            | PreparedObject::Sent(_)
            | PreparedObject::Refused(_) => None,
        }
    }

    /// Whether the server itself refuses the request between the phases of admission.
    pub(crate) fn is_refused_between(&self) -> bool {
        !matches!(self, PreparedObject::Refused(_)) && self.is_refused()
    }

    /// Whether the server itself refuses the request, before or between the phases of admission.
    pub fn is_refused(&self) -> bool {
        match self {
            PreparedObject::Refused(_) => true,
            PreparedObject::Given(given) => given.is_refused(),
            PreparedObject::Received(received) => received.is_refused(),
            PreparedObject::Unchanged | PreparedObject::Sent(_) => false,
        }
    }
}

/// The fields that a server dropped of an object that it received.
pub(crate) fn dropped_fields(received: &ReceivedRequest<'_>) -> Vec<DroppedField> {
    let dropped = received.dropped_fields().into_iter();
    dropped
        .map(|dropped| DroppedField::new(dropped, received.gates()))
        .collect()
}

/// The outcome of a request that a server refuses before admission.
pub(crate) fn refused_outcome(refused: RefusedRequest) -> Outcome {
    let mut outcome = Outcome::refused(*refused.status);
    outcome.cause = Some(DenialCause::Rule);
    outcome.warnings = refused.warnings;
    outcome
}
