//! The inputs of plugins besides the request.

use std::time::Duration;

use crate::access::{AccessReviewer, NoAccessReviewer};
use crate::rejection::Rejection;
use crate::state::ClusterState;

/// The inputs of plugins besides the request. They do not change during a request.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PluginContext<'a> {
    /// The view of the cluster.
    pub state: &'a dyn ClusterState,
    /// Answers authorization checks.
    pub access: &'a dyn AccessReviewer,
    /// Calls the backend of ImagePolicyWebhook.
    pub images: &'a dyn ImageReviewer,
    /// The time, since the Unix epoch.
    pub now: Duration,
    /// The suffix of names that plugins generate: five characters, random in a server.
    pub suffix: &'a str,
}

/// Calls the backend of ImagePolicyWebhook.
pub trait ImageReviewer: Sync {
    /// The answer to an ImageReview in JSON. Must not block.
    fn review(&self, review: &str) -> ImageReviewAnswer;
}

/// The result of a call of the backend.
#[derive(Clone, Debug, PartialEq)]
pub enum ImageReviewAnswer {
    /// The body of a successful answer, which should be an ImageReview in JSON.
    Answered(String),
    /// The call failed: with an HTTP status, or with another error.
    Failed(Rejection),
    /// There is no answer yet.
    Pending,
    /// There is nothing to call.
    Unknown,
}

struct NoImageReviewer;

impl ImageReviewer for NoImageReviewer {
    fn review(&self, _: &str) -> ImageReviewAnswer {
        ImageReviewAnswer::Unknown
    }
}

impl<'a> PluginContext<'a> {
    /// A context without authorizer and image policy backend, at the epoch.
    pub fn new(state: &'a dyn ClusterState) -> Self {
        PluginContext {
            state,
            access: &NoAccessReviewer,
            images: &NoImageReviewer,
            now: Duration::ZERO,
            suffix: "xxxxx",
        }
    }

    /// Sets the decider of authorization checks.
    #[must_use]
    pub fn with_access(self, access: &'a dyn AccessReviewer) -> Self {
        PluginContext { access, ..self }
    }

    /// Sets the reviewer that calls the backend of ImagePolicyWebhook.
    #[must_use]
    pub fn with_images(self, images: &'a dyn ImageReviewer) -> Self {
        PluginContext { images, ..self }
    }

    /// Sets the suffix of generated names.
    #[must_use]
    pub fn with_suffix(self, suffix: &'a str) -> Self {
        PluginContext { suffix, ..self }
    }

    /// Sets the time, since the Unix epoch.
    #[must_use]
    pub fn at(self, now: Duration) -> Self {
        PluginContext { now, ..self }
    }
}
