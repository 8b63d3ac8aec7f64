//! Reviews over HTTP as a `tower` service, for servers that others bring.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Body;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tower_service::Service;

use crate::client::Client;
use crate::connections::Slot;
use crate::context::ServerContext;
use crate::refused;
use crate::reviewer::{Half, Reviewer};
use crate::routes;
use crate::settings::Settings;
use crate::unsent::{self, AnswerBody};

/// AdmissionReviews over HTTP, without a listener: a [`tower`](Service) service of `http` requests that axum, hyper and
/// whatever else takes such services can mount, and that layers can wrap. A copy is the same service.
///
/// It answers what a [`Server`](crate::Server) answers, by path: `/mutate`, `/validate` and `/admit`, and `/livez`, `/readyz`,
/// `/metrics` and `/configz`. With a [half](Self::of_half), it takes reviews at whatever path it is mounted. It is always
/// ready: what keeps requests from being evaluated is an HTTP error.
///
/// Of the [`Settings`], metrics and audit apply, and those [limits](crate::Limits) that are about requests: the size and the
/// time of bodies, the memory of all requests together, how many are evaluated at a time and for how long. Connections,
/// handshakes, heads, certificates, and how long a client may take to read an answer are the business of the server that it
/// is mounted in, and so is who may ask: put authentication before it. The page for people is not shown.
///
/// Evaluations run on threads of its own, and the runtime that it is made in is what they wait with.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use http::Request;
/// use http_body_util::{BodyExt, Full};
/// use pratique::Admission;
/// use pratique_metrics::Metrics;
/// use pratique_server::{AdmissionService, KnownCluster, LiveReviewer, Reloads, Settings};
/// use tower_service::Service;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let live = Admission::builder().live().start()?;
/// let reviewer = LiveReviewer::new(live, Reloads::default(), KnownCluster::default());
/// let mut service = AdmissionService::new(Arc::new(reviewer), Settings::new(Metrics::new("1.0")));
///
/// // With axum: `Router::new().nest_service("/admission", service)`.
/// let review = r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
///     "kind": {"group": "", "version": "v1", "kind": "ConfigMap"}, "name": "web", "namespace": "shop",
///     "resource": {"group": "", "version": "v1", "resource": "configmaps"}, "operation": "CREATE",
///     "userInfo": {"username": "ann"}, "object": {"apiVersion": "v1", "kind": "ConfigMap",
///     "metadata": {"name": "web", "namespace": "shop"}}}}"#;
/// let answer = service.call(Request::post("/validate").body(Full::<Bytes>::from(review))?).await?;
/// let body = answer.into_body().collect().await?.to_bytes();
/// assert!(std::str::from_utf8(&body)?.contains(r#""allowed":true"#));
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AdmissionService {
    inner: Arc<Inner>,
    half: Option<Half>,
}

struct Inner {
    shared: Arc<ServerContext>,
    /// How many requests there were: each takes its turn by itself.
    requests: AtomicU64,
    /// Tells metrics and logs of tasks that ended.
    supervisor: AbortHandle,
}

/// An answer on its way. When it is dropped, the evaluation ends.
pub type Answering = Pin<Box<dyn Future<Output = Result<Response<AnswerBody>, Infallible>> + Send>>;

impl AdmissionService {
    /// A service that asks this reviewer.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn new(reviewer: Arc<dyn Reviewer>, settings: Settings) -> Self {
        // What was shown would be shown to everybody.
        let settings = Settings {
            page: false,
            ..settings
        };
        let shared = Arc::new(ServerContext::new(reviewer, settings));
        let supervised = shared.clone();
        let supervisor = Handle::current().spawn(async move { supervised.supervise().await });
        AdmissionService {
            inner: Arc::new(Inner {
                shared,
                requests: AtomicU64::new(0),
                supervisor: supervisor.abort_handle(),
            }),
            half: None,
        }
    }

    /// The same for one half of admission, or both: every path takes reviews for it. All services that were made of one
    /// share its limits.
    #[must_use]
    pub fn of_half(&self, half: Half) -> Self {
        AdmissionService {
            inner: self.inner.clone(),
            half: Some(half),
        }
    }
}

impl<B> Service<Request<B>> for AdmissionService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answering {
        let (inner, half) = (self.inner.clone(), self.half);
        Box::pin(async move {
            let shared = &inner.shared;
            let number = inner.requests.fetch_add(1, Ordering::Relaxed);
            let slot = Arc::new(Slot::of_others(number));
            let share = match unsent::share(&request, &slot, shared) {
                Ok(share) => share,
                Err(refusal) => {
                    if half.is_some() && !routes::is_review(request.uri().path()) {
                        refused::count(&refusal, &shared.metrics);
                    }
                    return Ok(unsent::send(*refusal, None, &slot));
                }
            };
            let request = request.map(Box::pin);
            let answer = routes::answer(request, half, Client::trusted(), false, &slot, shared).await;
            Ok(unsent::send(answer, share, &slot))
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

impl fmt::Debug for AdmissionService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AdmissionService")
            .field("half", &self.half)
            .finish_non_exhaustive()
    }
}
