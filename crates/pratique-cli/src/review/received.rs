//! Results of decoding objects as a server does: objects that it cannot decode are not evaluated.

use pratique::Outcome;
use pratique_json::Value;
use pratique_manifest::Location;
use pratique_suite::request::{UnservedKind, kind_of};
use pratique_typed::decode::received;
use pratique_types::{AdmissionRequest, Reason, Status};
use serde::Serialize;

use crate::output::problems;

/// A request and the location of its input.
pub(super) struct InputRequest<'t> {
    pub(super) request: AdmissionRequest<'t>,
    pub(super) location: Location,
    /// The workload that makes the object, if it does not stand in the input itself.
    pub(super) parent: Option<Parent>,
    /// Whether an API server sent the request.
    pub(super) is_sent: bool,
    /// The warnings of a server that decodes the object, or its error.
    pub(super) received: Result<Vec<String>, ReceiveFailure>,
}

/// Why a server refuses a request before it has an object of the kind.
#[derive(Clone, Debug)]
pub(super) struct ReceiveFailure {
    status: Box<Status>,
    /// What else can be said, and done.
    help: Option<String>,
}

impl From<String> for ReceiveFailure {
    /// The object cannot be decoded.
    fn from(why: String) -> Self {
        ReceiveFailure {
            status: Box::new(Status::failure(Reason::BadRequest, why)),
            help: None,
        }
    }
}

impl From<UnservedKind> for ReceiveFailure {
    fn from(unserved: UnservedKind) -> Self {
        ReceiveFailure {
            status: Box::new(unserved.status()),
            help: Some(unserved.help()),
        }
    }
}

/// A workload that makes other objects.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Parent {
    pub(super) kind: String,
    pub(super) name: String,
}

impl InputRequest<'_> {
    /// `file:line:column`
    pub(super) fn place(&self) -> String {
        problems::place(&self.location)
    }

    /// The object that the request is about; the stored one of a deletion.
    pub(super) fn object(&self) -> &Value<'_> {
        match self.request.object.is_null() {
            true => &self.request.old_object,
            false => &self.request.object,
        }
    }

    /// The name in the request, or else the start of the name that a server generates; empty if there is neither.
    pub(super) fn name(&self) -> &str {
        let generated = || self.object().at(&["metadata", "generateName"])?.as_str();
        match self.request.name.as_str() {
            "" => generated().unwrap_or_default(),
            name => name,
        }
    }

    /// The outcome of a request whose object cannot be decoded.
    pub(super) fn decode_failure(&self) -> Option<Outcome> {
        let failure = self.received.as_ref().err()?;
        Some(Outcome::refused((*failure.status).clone()))
    }

    /// What else can be said about a request that the server refuses so early.
    pub(super) fn help(&self) -> Option<&str> {
        self.received.as_ref().err()?.help.as_deref()
    }

    /// Adds the warnings of decoding the object to an outcome.
    pub(super) fn with_warnings(&self, outcome: Outcome) -> Outcome {
        let mut outcome = outcome;
        if let Ok(warnings) = &self.received {
            outcome.warnings.splice(0..0, warnings.iter().cloned());
        }
        outcome
    }
}

/// Warnings about the objects of an AdmissionReview that a server would not have sent: it would have dropped the
/// fields, or rejected the object.
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
