//! What a server asks to judge requests.

use std::future::Future;
use std::pin::Pin;

use pratique_types::{AdmissionRequest, AdmissionResponse};

use crate::configz::Source;
use pratique::Limits;

/// Judges requests.
pub trait Reviewer: Send + Sync + 'static {
    /// Evaluates a request within limits, on a thread for that. The answer is of no use any more once the interrupt is set,
    /// which is at its deadline, or when the client is gone: evaluation is to end then, and the future is dropped when it
    /// is not computing. If it panics, only this request has no answer.
    fn review<'a>(
        &'a self,
        half: Half,
        request: &'a AdmissionRequest<'a>,
        limits: &'a Limits,
    ) -> Reviewing<'a>;

    /// Whether requests can be judged.
    ///
    /// # Errors
    /// Why not.
    fn ready(&self) -> Result<(), Unavailable>;

    /// The background tasks that ended although the server goes on, by the names that metrics have for them. What was in
    /// effect stays so; the server is not ready any more, as changes do not take effect.
    fn ended_tasks(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What requests are judged by, for `/configz` and the page for people.
    fn sources(&self) -> Vec<Source>;
}

/// An answer on its way.
pub type Reviewing<'a> = Pin<Box<dyn Future<Output = Result<Reviewed, Unavailable>> + Send + 'a>>;

/// An answer, and what it does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reviewed {
    /// The answer.
    pub response: AdmissionResponse,
    /// The policies that mutated the object or failed to, by name: answers do not name them, and the page for people does.
    pub mutated_by: Vec<String>,
}

impl From<AdmissionResponse> for Reviewed {
    fn from(response: AdmissionResponse) -> Self {
        Reviewed {
            response,
            mutated_by: Vec::new(),
        }
    }
}

/// Which half of admission is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Changing objects.
    Mutating,
    /// Judging objects.
    Validating,
    /// One after the other.
    Both,
}

/// Why requests are not judged; for now, at least.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);
