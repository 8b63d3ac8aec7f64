//! Delivery of reviews to webhooks.

use std::collections::HashSet;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pratique_cel::OutOfMemory;

use crate::memory::CallMemory;

/// The endpoint of a webhook and the authorities trusted there. Compiled once for each webhook of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `https` URL to which reviews are posted, without query: what requests and messages show. That of a service is
    /// `https://name.namespace.svc:port/path`.
    pub url: String,
    /// The name that its certificate must have, where it is not the URL's host: `name.namespace.svc` of a service.
    pub server_name: Option<String>,
    /// PEM certificates to trust; none means those of the system.
    pub ca_bundle: Option<Vec<u8>>,
}

/// Leaves out bundles, which are long and hardly ever distinguish endpoints.
impl Hash for Endpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.url.hash(state);
        self.server_name.hash(state);
    }
}

/// One call of a webhook.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the webhook.
    pub webhook: Arc<str>,
    /// The endpoint of the webhook.
    pub endpoint: Arc<Endpoint>,
    /// The `host:port` to connect to, where it is not that of the URL: the resolved address of a service. Everything else,
    /// including the name in the certificate and the `Host` header, follows from the endpoint.
    pub address: Option<String>,
    /// The AdmissionReview, as JSON.
    pub body: Bytes,
    /// The value of `?timeout=`: whole seconds, rounded up. `None` leaves it out.
    pub timeout: Option<Duration>,
    /// The deadline, at which the caller ends the call with an API server's message. A call that does not end is dropped soon
    /// after.
    pub deadline: Option<Instant>,
    /// Whether the request ends before the webhook's own time is over: that there is no answer until then says nothing of the
    /// webhook.
    pub is_shortened: bool,
    /// The memory that the request has for this call. Callers grow it as they read an answer; the rest is added when they
    /// return the answer.
    pub memory: Arc<CallMemory>,
}

/// Why there is no answer. Displays as an API server's message after `failed calling webhook "…": `, that is from
/// `failed to call webhook: ` or `could not get REST client: ` on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The message.
    pub message: String,
    /// The kind of failure.
    pub kind: CallErrorKind,
}

/// The kind of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallErrorKind {
    /// The client could not be made, for example because of a bad bundle or bad credentials.
    Client,
    /// No answer in time.
    Timeout,
    /// An answer with a status that is not success: its code.
    Status(u16),
    /// Any other failure of the transport: refused, reset, not trusted, too large.
    Transport,
    /// There was no call, and the webhook's answer is unknown: the request is
    /// [undecided](pratique_core::MissingDependency::WebhookAnswer).
    Unknown,
    /// There is no memory for the answer. No failure policy ignores that.
    OutOfMemory(OutOfMemory),
}

/// Delivers reviews to webhooks.
pub trait Caller: Send + Sync {
    /// Posts a review; returns the body of a successful answer, which is not empty. Dropping the answer cancels the call.
    fn call<'a>(&'a self, call: Call) -> Answer<'a>;

    /// Called after webhooks changed: from now on, only these endpoints are called, except by requests in progress. State for
    /// others can be dropped. Does nothing unless implemented.
    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        let _ = endpoints;
    }
}

/// The future of an answer.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Bytes, CallError>> + Send + 'a>>;

/// A shared caller.
impl<C: Caller + ?Sized> Caller for Arc<C> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        (**self).call(call)
    }

    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        (**self).retain(endpoints);
    }
}
