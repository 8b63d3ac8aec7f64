//! Requests as they are reviewed: with what a server says when it decodes the object.

use pratique::Outcome;
use pratique_json::Value;
use pratique_policy::DenialCause;
use pratique_request::UnservedKind;
use pratique_schema::Release;
use pratique_types::{AdmissionRequest, ObjectRef, Reason, Status};
use serde::Serialize;

use crate::given_object::GivenObject;

/// A request to review.
#[derive(Clone, Debug)]
pub struct ReviewInput<'t> {
    /// The request. Its object is that of the input; [`prepare`](crate::Preparation::prepare) completes it.
    pub request: AdmissionRequest<'t>,
    /// The workload that makes the object, if it does not stand in the input itself.
    pub parent: Option<ParentWorkload>,
    /// Whether an API server sent the request, so that its object was decoded and completed before.
    pub is_sent: bool,
    /// The warnings of a server that decodes the object, or its refusal.
    pub received: Result<Vec<String>, ReceiveFailure>,
}

/// Why a server refuses a request before it has an object of the kind.
#[derive(Clone, Debug)]
pub struct ReceiveFailure {
    status: Box<Status>,
    /// What else can be said, and done.
    help: Option<String>,
}

impl From<String> for ReceiveFailure {
    /// The object cannot be decoded.
    fn from(why: String) -> Self {
        ReceiveFailure::from(Box::new(Status::failure(Reason::BadRequest, why)))
    }
}

impl From<Box<Status>> for ReceiveFailure {
    /// The server answers with a status.
    fn from(status: Box<Status>) -> Self {
        ReceiveFailure { status, help: None }
    }
}

impl From<UnservedKind> for ReceiveFailure {
    /// No server serves the kind.
    fn from(unserved: UnservedKind) -> Self {
        ReceiveFailure {
            status: Box::new(unserved.status()),
            help: Some(unserved.help()),
        }
    }
}

/// A workload that makes other objects.
#[derive(Clone, Debug, Serialize)]
pub struct ParentWorkload {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

impl<'t> ReviewInput<'t> {
    /// The request of an object, which a server decodes with warnings, or does not.
    pub fn new(
        request: AdmissionRequest<'t>,
        received: Result<Vec<String>, impl Into<ReceiveFailure>>,
    ) -> Self {
        ReviewInput {
            request,
            parent: None,
            is_sent: false,
            received: received.map_err(Into::into),
        }
    }

    /// A request that an API server sent.
    pub fn sent(request: AdmissionRequest<'t>) -> Self {
        ReviewInput {
            request,
            parent: None,
            is_sent: true,
            received: Ok(Vec::new()),
        }
    }

    /// The same with an object of its own.
    pub fn into_owned(self) -> ReviewInput<'static> {
        ReviewInput {
            request: self.request.into_owned(),
            parent: self.parent,
            is_sent: self.is_sent,
            received: self.received,
        }
    }

    /// The object that the request is about; the stored one of a deletion.
    pub fn object(&self) -> &Value<'t> {
        if self.request.object.is_null() {
            &self.request.old_object
        } else {
            &self.request.object
        }
    }

    /// The name in the request, or else that of the object or its start; empty if there is none.
    pub fn name(&self) -> &str {
        match self.request.name.as_str() {
            "" => ObjectRef::new(self.object()).name_or_prefix(),
            name => name,
        }
    }

    /// The outcome of a request whose object cannot be decoded.
    pub(crate) fn decode_failure(&self) -> Option<Outcome> {
        let failure = self.received.as_ref().err()?;
        let mut outcome = Outcome::refused((*failure.status).clone());
        outcome.cause = Some(DenialCause::Rule);
        Some(outcome)
    }

    /// What else can be said about a request that the server refuses so early.
    pub fn help(&self) -> Option<&str> {
        self.received.as_ref().err()?.help.as_deref()
    }

    /// Adds the warnings of decoding the object to an outcome.
    pub fn with_warnings(&self, outcome: Outcome) -> Outcome {
        let mut outcome = outcome;
        if let Ok(warnings) = &self.received {
            outcome.warnings.splice(0..0, warnings.iter().cloned());
        }
        outcome
    }
}

/// Warnings about the objects of an AdmissionReview that a server of a release would not have sent: it would have dropped the
/// fields, or rejected the object.
pub fn decode_warnings(release: &'static Release, request: &AdmissionRequest<'static>) -> Vec<String> {
    let objects = [("object", &request.object), ("oldObject", &request.old_object)];
    let given = objects.into_iter().filter(|(_, object)| !object.is_null());
    given
        .flat_map(|(name, object)| object_warnings(release, name, object))
        .collect()
}

fn object_warnings(release: &'static Release, name: &str, object: &Value<'static>) -> Vec<String> {
    let given = GivenObject::decode(release, object.clone());
    let reasons = given.decoded.unwrap_or_else(|why| vec![why]);
    let message = |why| format!("request.{name} is not as a server sends it: {why}");
    reasons.into_iter().map(message).collect()
}
