//! What comes of an entry of a log: requests, or why there is none.

use std::fmt::{self, Display, Formatter};

use pratique_types::AdmissionRequest;
use serde::{Deserialize, Serialize};

use crate::recorded_outcome::RecordedOutcome;

/// What comes of an entry of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayResult<'e> {
    /// Identifies the request: the `auditID`, or the uid of a review.
    pub id: String,
    /// When the request arrived, as the log writes it; empty where it does not.
    pub at: String,
    /// What came of it.
    pub then: RecordedOutcome,
    /// What admission was asked.
    pub what: EventRequests<'e>,
}

/// What admission was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum EventRequests<'e> {
    /// Requests: one, but for deletions of a collection, each object of which is one.
    Requests(Vec<ReplayRequest<'e>>),
    /// Nothing.
    NotSubject(NotSubject),
    /// Something of which the event does not hold enough. The request has what is known, and neither object.
    Unknown(UnknownRequest, Box<AdmissionRequest<'e>>),
}

/// A request to admission.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayRequest<'e> {
    /// The request.
    pub request: AdmissionRequest<'e>,
    /// What its object is.
    pub seen: ObjectKnowledge,
    /// In what it may differ from what admission saw.
    pub approximations: Vec<RequestApproximation>,
}

/// How far the server had processed the object of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKnowledge {
    /// It is the object that the server decoded, before any further processing.
    Decoded,
    /// It is the object that admission received, or the one that was stored: it is not processed before admission.
    Admitted,
}

/// Why a request did not go through admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NotSubject {
    /// The event is one of another stage of a request.
    Stage,
    /// It reads.
    ReadOnly,
    /// It is not about a resource.
    NonResource,
    /// The user was not known, or not permitted to make it.
    Unauthorized,
    /// The object was not there.
    NotFound,
    /// Its object could not be decoded, or it was refused before that was read.
    NotDecoded,
    /// It is an entry of another log of the cluster.
    OtherLog,
}

/// Why it is not known what admission was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UnknownRequest {
    /// The event is of level Metadata.
    Level,
    /// The audit backend dropped the objects of an event that was too large.
    Truncated,
    /// The event has no object, though one of its level should.
    NoObject,
    /// The object that was patched is not known, nor the result.
    PatchedObject,
    /// The event does not say of which type the patch is, and the types give different objects.
    PatchType,
    /// The patch cannot be applied to the object that is remembered.
    Patch,
    /// The objects of the collection that was deleted are not known.
    Collection,
    /// The verb is none that is known.
    Verb,
    /// The log leaves out the groups of users and the parameters of requests.
    Details,
}

/// In what a request may differ from what admission saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RequestApproximation {
    /// The old object is the one that the log gave last; it may have changed since.
    LastSeen,
    /// The object is the one that was stored, with all mutations of then.
    Stored,
    /// The object is as the client sent it: what a server keeps of the stored one, such as the status, is not known.
    AsSent,
    /// The old object is the one that the deletion answered with.
    Deleted,
    /// The options of the request are only those of its address.
    Options,
    /// Webhooks changed the object after this.
    Webhooks,
    /// The object is one that built-in admission plugins change before policies see it, such as a new Pod.
    Plugins,
}

impl NotSubject {
    /// A name for it, for programs.
    pub fn name(self) -> &'static str {
        match self {
            NotSubject::Stage => "stage",
            NotSubject::ReadOnly => "readOnly",
            NotSubject::NonResource => "nonResource",
            NotSubject::Unauthorized => "unauthorized",
            NotSubject::NotFound => "notFound",
            NotSubject::NotDecoded => "notDecoded",
            NotSubject::OtherLog => "otherLog",
        }
    }
}

impl UnknownRequest {
    /// A name for it, for programs.
    pub fn name(self) -> &'static str {
        match self {
            UnknownRequest::Level => "level",
            UnknownRequest::Truncated => "truncated",
            UnknownRequest::NoObject => "noObject",
            UnknownRequest::PatchedObject => "patchedObject",
            UnknownRequest::PatchType => "patchType",
            UnknownRequest::Patch => "patch",
            UnknownRequest::Collection => "collection",
            UnknownRequest::Verb => "verb",
            UnknownRequest::Details => "details",
        }
    }
}

impl RequestApproximation {
    /// A name for it, for programs.
    pub fn name(self) -> &'static str {
        match self {
            RequestApproximation::LastSeen => "lastSeen",
            RequestApproximation::Stored => "stored",
            RequestApproximation::AsSent => "asSent",
            RequestApproximation::Deleted => "deleted",
            RequestApproximation::Options => "options",
            RequestApproximation::Webhooks => "webhooks",
            RequestApproximation::Plugins => "plugins",
        }
    }
}

impl Display for NotSubject {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NotSubject::Stage => "events of other stages of a request",
            NotSubject::ReadOnly => "requests that read",
            NotSubject::NonResource => "requests that are not about a resource",
            NotSubject::Unauthorized => "requests that the user was not permitted to make",
            NotSubject::NotFound => "requests for an object that was not there",
            NotSubject::NotDecoded => "requests whose object was not decoded",
            NotSubject::OtherLog => "entries of other logs",
        })
    }
}

impl Display for UnknownRequest {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            UnknownRequest::Level => "the event is of level Metadata",
            UnknownRequest::Truncated => "the event was truncated",
            UnknownRequest::NoObject => "the event has no object",
            UnknownRequest::PatchedObject => "the object that was patched is not known, nor the result",
            UnknownRequest::PatchType => "the event does not say of which type the patch is",
            UnknownRequest::Patch => "the patch cannot be applied to the object that is remembered",
            UnknownRequest::Collection => "the deleted objects are not known",
            UnknownRequest::Verb => "the verb is not known",
            UnknownRequest::Details => {
                "the log leaves out the groups of users and the parameters of requests"
            }
        })
    }
}

impl Display for RequestApproximation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            RequestApproximation::LastSeen => "the old object is the one that the log gave last",
            RequestApproximation::Stored => "the object is the one that was stored",
            RequestApproximation::AsSent => "the object is as the client sent it",
            RequestApproximation::Deleted => "the old object is the one that the deletion answered with",
            RequestApproximation::Options => "the options of the request are only those of its address",
            RequestApproximation::Webhooks => "webhooks changed the object afterwards",
            RequestApproximation::Plugins => "built-in plugins may have changed the object before",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    /// JSON has the names for programs.
    #[track_caller]
    fn check<T: Copy + PartialEq + fmt::Debug + Serialize + DeserializeOwned>(
        values: &[T],
        name: fn(T) -> &'static str,
    ) {
        for value in values {
            let json = serde_json::to_value(value).unwrap();
            assert_eq!(json, name(*value));
            assert_eq!(serde_json::from_value::<T>(json).unwrap(), *value);
        }
    }

    #[test]
    fn json_has_the_names() {
        use NotSubject::{NonResource, NotDecoded, NotFound, OtherLog, ReadOnly, Stage, Unauthorized};
        use RequestApproximation::{AsSent, Deleted, LastSeen, Options, Plugins, Stored, Webhooks};
        check(
            &[
                Stage,
                ReadOnly,
                NonResource,
                Unauthorized,
                NotFound,
                NotDecoded,
                OtherLog,
            ],
            NotSubject::name,
        );
        check(
            &[LastSeen, Stored, AsSent, Deleted, Options, Webhooks, Plugins],
            RequestApproximation::name,
        );
        check(
            &[
                UnknownRequest::Level,
                UnknownRequest::Truncated,
                UnknownRequest::NoObject,
                UnknownRequest::PatchedObject,
                UnknownRequest::PatchType,
                UnknownRequest::Patch,
                UnknownRequest::Collection,
                UnknownRequest::Verb,
                UnknownRequest::Details,
            ],
            UnknownRequest::name,
        );
    }
}
