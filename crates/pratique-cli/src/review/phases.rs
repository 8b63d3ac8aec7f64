//! Objects as an API server sees them: what it does with them before admission, and between the steps of it.

use pratique::api_objects::{ApiObjects, Defaults, ReceivedRequest};
use pratique::{ObjectModel, Outcome};
use pratique_gotext::strconv::quote;
use pratique_manifest::ManifestSet;
use pratique_policy::{DenialCause, Origin};
use pratique_suite::reads_managed_fields;
use pratique_types::GroupVersionKind;

use super::received::{InputRequest, ReceiveFailure};
use super::state::ClusterState;
use crate::arguments::{FieldValidation, ObjectArguments, ReviewArguments, ReviewFormat};

/// The handling of objects besides admission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    completes: bool,
    validation: FieldValidation,
    /// Whether it is shown what was defaulted.
    records: bool,
    webhooks: bool,
}

/// The object of a request, from decoding to validating admission.
pub(super) enum Stage<'s> {
    /// It stays as it is.
    Unchanged,
    /// A server sent it: what policies change is defaulted.
    Sent(&'s ApiObjects),
    /// It is completed as a server does.
    Received(Box<ReceivedRequest<'s>>),
    /// The server refuses it before admission.
    Refused(Box<Outcome>),
}

impl Phases {
    pub(super) fn new(arguments: &ObjectArguments, review: &ReviewArguments) -> Self {
        Phases {
            completes: arguments.defaults,
            validation: arguments.field_validation,
            records: review.explain || review.answers.output == ReviewFormat::Diff,
            webhooks: review.webhooks,
        }
    }

    /// For objects of which nothing is shown but decisions, without webhooks.
    pub(super) fn of(arguments: &ObjectArguments) -> Self {
        Phases {
            completes: arguments.defaults,
            validation: arguments.field_validation,
            records: false,
            webhooks: false,
        }
    }

    /// The built-in kinds; `None` where objects stay as they are.
    pub(super) fn objects(&self, sets: &[(Origin, ManifestSet)]) -> Option<ApiObjects> {
        // Webhooks are sent whole objects.
        self.completes.then(|| {
            let manages = self.webhooks || reads_managed_fields(sets);
            ApiObjects::default().with_managed_fields(manages)
        })
    }

    /// Does with a request what a server does before admission.
    pub(super) fn receive<'s>(
        &self,
        input: &mut InputRequest<'_>,
        is_review: bool,
        state: &'s ClusterState,
    ) -> Stage<'s> {
        self.validate_fields(input);
        let Some(objects) = state.api_objects() else {
            return Stage::Unchanged;
        };
        if is_review {
            return Stage::Sent(objects);
        }
        if input.received.is_err() {
            return Stage::Unchanged;
        }
        let received = match self.records {
            true => objects.receive_recorded(&mut input.request),
            false => objects.receive(&mut input.request),
        };
        match received {
            Ok(received) => {
                if let Ok(warnings) = &mut input.received {
                    warnings.extend_from_slice(received.unknown_fields());
                }
                self.validate_fields(input);
                if let Ok(warnings) = &mut input.received {
                    warnings.extend_from_slice(received.warnings());
                }
                Stage::Received(Box::new(received))
            }
            Err(refused) => {
                let mut outcome = Outcome::refused(*refused.status);
                outcome.cause = Some(DenialCause::Rule);
                outcome.warnings = refused.warnings;
                Stage::Refused(Box::new(outcome))
            }
        }
    }

    /// Refuses unknown and duplicate fields, or drops the warnings about them.
    fn validate_fields(&self, input: &mut InputRequest<'_>) {
        if let Ok(warnings) = &mut input.received {
            let warnings = std::mem::take(warnings);
            let validated = self.validated(&input.request.kind, warnings);
            input.received = validated.map_err(ReceiveFailure::from);
        }
    }

    /// The warnings about unknown and duplicate fields; the error is that an object of a kind is refused for them.
    // Upstream: apiserver/pkg/endpoints/handlers/create.go, createHandler
    pub(super) fn validated(
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

impl Stage<'_> {
    /// The model by which the object is defaulted during admission.
    pub(super) fn model(&self) -> Option<&dyn ObjectModel> {
        match self {
            Stage::Unchanged | Stage::Refused(_) => None,
            Stage::Sent(objects) => Some(*objects),
            Stage::Received(received) => Some(&**received),
        }
    }

    /// The outcome of a request that is refused before admission.
    pub(super) fn refusal(&self) -> Option<Outcome> {
        match self {
            Stage::Refused(outcome) => Some((**outcome).clone()),
            Stage::Unchanged | Stage::Sent(_) | Stage::Received(_) => None,
        }
    }

    /// The fields that were set in the object, if they are shown.
    pub(super) fn defaults(&self) -> Vec<Defaults> {
        match self {
            Stage::Received(received) => received.defaults(),
            Stage::Unchanged | Stage::Sent(_) | Stage::Refused(_) => Vec::new(),
        }
    }

    /// Whether the server itself refuses the request, before or between the phases of admission.
    pub(super) fn is_refused(&self) -> bool {
        match self {
            Stage::Refused(_) => true,
            Stage::Received(received) => received.is_refused(),
            Stage::Unchanged | Stage::Sent(_) => false,
        }
    }
}
