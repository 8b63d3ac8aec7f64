//! What a server says of objects when it decodes them: those that it cannot decode are evaluated by no policy.

use pratique::Outcome;
use pratique_json::Value;
use pratique_suite::request::kind_of;
use pratique_typed::decode::received;
use pratique_types::{AdmissionRequest, Reason, Status};

use super::InputRequest;

impl InputRequest {
    /// The answer to a request whose object cannot be decoded.
    pub(super) fn decode_failure(&self) -> Option<Outcome> {
        let why = self.received.as_ref().err()?;
        Some(Outcome::refused(Status::failure(Reason::BadRequest, why)))
    }

    /// What came of the request, with the warnings that a server gives when it decodes the object.
    pub(super) fn with_warnings(&self, outcome: Outcome) -> Outcome {
        let mut outcome = outcome;
        if let Ok(warnings) = &self.received {
            outcome.warnings.splice(0..0, warnings.iter().cloned());
        }
        outcome
    }
}

/// What is wrong with the objects of a request that was made by others: a server has decoded them, and would have left
/// out or refused it.
pub(super) fn decode_warnings(request: &AdmissionRequest<'static>) -> Vec<String> {
    let objects = [("object", &request.object), ("oldObject", &request.old_object)];
    let given = objects.into_iter().filter(|(_, object)| !object.is_null());
    given
        .flat_map(|(name, object)| object_warnings(name, object))
        .collect()
}

fn object_warnings(name: &str, object: &Value<'static>) -> Vec<String> {
    let Ok(kind) = kind_of(object) else {
        return Vec::new();
    };
    let found = received(&kind, object).unwrap_or_else(|why| vec![why]);
    let message = |why| format!("request.{name} is not as a server sends it: {why}");
    found.into_iter().map(message).collect()
}
