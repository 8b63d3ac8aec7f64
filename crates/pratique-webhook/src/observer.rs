//! What happens while webhooks are called, for those who count, log or show it.

use std::time::Duration;

use bytes::Bytes;
use pratique_expression::Undecided;
use pratique_types::Operation;

/// Listens to calls. All methods do nothing unless implemented.
pub trait Observer: Send {
    /// A webhook was called, or failed to be.
    fn called(&mut self, called: &Called<'_>) {
        let _ = called;
    }

    /// The match conditions of a webhook were evaluated.
    fn conditions(&mut self, conditions: &Conditions<'_>) {
        let _ = conditions;
    }

    /// Whether a webhook is called depends on what was not given.
    fn undecided(&mut self, undecided: &Undecided) {
        let _ = undecided;
    }
}

/// Listens to nothing.
impl Observer for () {}

/// What a webhook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Does {
    /// It changes objects.
    Mutate,
    /// It validates them.
    Validate,
}

impl Does {
    /// The name of the admission plugin that such webhooks belong to.
    pub fn plugin(self) -> &'static str {
        match self {
            Does::Mutate => "MutatingAdmissionWebhook",
            Does::Validate => "ValidatingAdmissionWebhook",
        }
    }
}

/// A call that ended.
#[derive(Clone, Debug)]
pub struct Called<'a> {
    /// The name of the webhook.
    pub webhook: &'a str,
    /// The name of its configuration.
    pub configuration: &'a str,
    /// What it does.
    pub does: Does,
    /// What the request does.
    pub operation: Operation,
    /// How long it took.
    pub duration: Duration,
    /// The HTTP code that stands for how it ended: 200 where the request may go on, that of the denial or the
    /// failure, 0 for errors of the server itself.
    pub code: u16,
    /// Why the request is refused for it; `None` where it is not.
    pub rejection: Option<Rejection>,
    /// What failed, in the reference's words: `failed calling webhook "…": …`. It may be ignored.
    pub failure: Option<&'a str>,
    /// Whether a failure was ignored.
    pub failed_open: bool,
    /// What was posted; empty if it never came to that.
    pub review: Bytes,
    /// The body that was answered; empty if there was none.
    pub answer: Bytes,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rejection {
    /// The webhook denied it.
    Denied,
    /// The webhook could not be called.
    CallFailed,
    /// An error of the server itself: what the webhook wants cannot be done.
    ServerError,
}

/// Match conditions that were evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// The name of the webhook.
    pub webhook: &'a str,
    /// What it does.
    pub does: Does,
    /// What the request does.
    pub operation: Operation,
    /// How long it took.
    pub duration: Duration,
    /// How many of them failed, up to the first that was false.
    pub errors: usize,
    /// Whether the webhook is left out: one was false, or failed and failures are ignored.
    pub excluded: bool,
    /// Why the request is refused for them, in the reference's words; `None` where it is not.
    pub failure: Option<&'a str>,
}
