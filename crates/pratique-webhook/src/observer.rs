//! Observing the calls of webhooks: for metrics, logs and explanations.

use std::time::Duration;

use bytes::Bytes;
use pratique_core::{AdmissionPhase, UndecidedDecision};
use pratique_types::Operation;

/// Observes the calls of webhooks. The methods do nothing unless implemented.
pub trait WebhookObserver: Send {
    /// A webhook was called, or could not be called.
    fn called(&mut self, called: &EndedCall<'_>) {
        let _ = called;
    }

    /// The match conditions of a webhook were evaluated.
    fn conditions(&mut self, conditions: &Conditions<'_>) {
        let _ = conditions;
    }

    /// Whether a webhook is called depends on missing input.
    fn undecided(&mut self, undecided: &UndecidedDecision) {
        let _ = undecided;
    }
}

/// Observes nothing.
impl WebhookObserver for () {}

/// A call that ended.
#[derive(Clone, Debug)]
pub struct EndedCall<'a> {
    /// The name of the webhook.
    pub webhook: &'a str,
    /// The name of its configuration.
    pub configuration: &'a str,
    /// Its phase.
    pub phase: AdmissionPhase,
    /// The operation of the request.
    pub operation: Operation,
    /// How long it took.
    pub duration: Duration,
    /// The HTTP status code of its end: 200 where the request may continue, that of the denial or the failure, 0 for errors
    /// of the server itself.
    pub code: u16,
    /// Why the request is refused; `None` where it is not.
    pub rejection: Option<Rejection>,
    /// The message of a failure, which may be ignored: `failed calling webhook "…": …`.
    pub failure: Option<&'a str>,
    /// Whether a failure was ignored.
    pub failed_open: bool,
    /// The body of the call; empty if there was none.
    pub review: Bytes,
    /// The body of the answer; empty if there was none.
    pub answer: Bytes,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// The webhook denied it.
    Denied,
    /// The webhook could not be called.
    CallFailed,
    /// An error of the server itself: it cannot apply the webhook's answer.
    ServerError,
}

/// An evaluation of match conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// The name of the webhook.
    pub webhook: &'a str,
    /// The name of its configuration.
    pub configuration: &'a str,
    /// Its phase.
    pub phase: AdmissionPhase,
    /// The operation of the request.
    pub operation: Operation,
    /// How long it took.
    pub duration: Duration,
    /// How many conditions failed before the first false one.
    pub errors: usize,
    /// Whether the webhook is not called: a condition was false, or one failed and failures are ignored.
    pub excluded: bool,
    /// The error with which the request is refused; `None` where it is not.
    pub failure: Option<&'a str>,
    /// The error because of which the webhook is not called, as its failure policy ignores errors.
    pub ignored: Option<&'a str>,
}
