//! The trait that evaluates requests.

use std::future::Future;
use std::pin::Pin;

use pratique_types::{AdmissionRequest, AdmissionResponse};

use crate::configz::Source;
use pratique::Limits;
use pratique::observer::AdmissionPhases;

/// Evaluates requests.
pub trait AdmissionHandler: Send + Sync + 'static {
    /// Evaluates a request that an API server can have sent, within limits, on an evaluation thread. The interrupt is set at the deadline or when the client
    /// is gone: the result is then no longer needed, and the future is dropped once it is not being polled. A panic affects
    /// only this request.
    fn handle<'a>(
        &'a self,
        phases: AdmissionPhases,
        request: &'a AdmissionRequest<'a>,
        limits: &'a Limits,
    ) -> ReviewFuture<'a>;

    /// Whether requests can be evaluated.
    ///
    /// # Errors
    /// If they cannot, with the reason.
    fn ready(&self) -> Result<(), HandlerUnavailable>;

    /// The background tasks that ended while the server runs, by their names in metrics. The current configuration stays in
    /// effect, but the server is no longer ready, as changes do not take effect.
    fn ended_tasks(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The release of Kubernetes whose API servers decide so, for `/configz` and the status page.
    fn kubernetes_version(&self) -> Option<&str> {
        None
    }

    /// The sources of policies and webhooks, for `/configz` and the status page.
    fn sources(&self) -> Vec<Source>;
}

/// The future of a [`ReviewResult`].
pub type ReviewFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ReviewResult, HandlerUnavailable>> + Send + 'a>>;

/// A response with further information.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReviewResult {
    /// The response.
    pub response: AdmissionResponse,
    /// The names of policies that mutated the object or failed to, which responses do not have, for the status page.
    pub mutated_by: Vec<String>,
}

impl From<AdmissionResponse> for ReviewResult {
    fn from(response: AdmissionResponse) -> Self {
        ReviewResult {
            response,
            mutated_by: Vec::new(),
        }
    }
}

/// Requests cannot be evaluated for now, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HandlerUnavailable(pub String);
