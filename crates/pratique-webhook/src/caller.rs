//! The seam between what a webhook is asked and how the question travels.

use std::collections::HashSet;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pratique_cel::OutOfMemory;

use crate::memory::CallMemory;

/// Where a webhook listens, and whom to trust there. Compiled once for each webhook of a configuration.
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

/// Bundles are long, and hardly ever what tells two endpoints apart.
impl Hash for Endpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.url.hash(state);
        self.server_name.hash(state);
    }
}

/// One review on its way to a webhook.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where it goes.
    pub endpoint: Arc<Endpoint>,
    /// `host:port` to connect to, where it is not that of the URL: where a service was found. All else, the name in
    /// the certificate and the `Host` header included, stays as the endpoint says.
    pub address: Option<String>,
    /// The AdmissionReview, as JSON.
    pub body: Bytes,
    /// What the webhook is told in `?timeout=`: whole seconds, rounded up. None: it is told nothing.
    pub timeout: Option<Duration>,
    /// When nobody waits for the answer any more. The caller ends the call then, in the reference's words; what does
    /// not end is dropped soon after.
    pub deadline: Option<Instant>,
    /// The memory that the request has for this call. Callers grow it as they read an answer; what they do not is added
    /// when they hand it on.
    pub memory: Arc<CallMemory>,
}

/// Why there is no answer to read. Displays as the reference words it after `failed calling webhook "…": `, that is from
/// `failed to call webhook: ` or `could not get REST client: ` on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The reference's words.
    pub message: String,
    /// What kind of failure it is.
    pub kind: CallErrorKind,
}

/// What kept an answer from being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallErrorKind {
    /// The client could not be made: a bad bundle, bad credentials.
    Client,
    /// No answer in time.
    Timeout,
    /// An answer with a status that is not success: its code.
    Status(u16),
    /// Everything else on the way: refused, reset, distrusted, too large.
    Transport,
    /// There is no memory for the answer. No failure policy ignores that.
    OutOfMemory(OutOfMemory),
}

/// Brings reviews to webhooks.
pub trait Caller: Send + Sync {
    /// Posts a review; gives the body of a successful answer, which is not empty. Dropping the answer ends the call.
    fn call<'a>(&'a self, call: Call) -> Answer<'a>;

    /// From now on no other endpoints are called than these, but for requests under way: what is kept for others can
    /// go. It is said whenever webhooks changed. Does nothing unless implemented.
    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        let _ = endpoints;
    }
}

/// An answer on its way.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Bytes, CallError>> + Send + 'a>>;

/// A caller that several share.
impl<C: Caller + ?Sized> Caller for Arc<C> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        (**self).call(call)
    }

    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        (**self).retain(endpoints);
    }
}
