//! AdmissionReviews over HTTP as a `tower` service, to be mounted in another server.

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

use crate::client::ClientPermissions;
use crate::connections::TrackedConnection;
use crate::context::ServerContext;
use crate::handler::AdmissionHandler;
use crate::refusal_metrics;
use crate::response_body::{self, ResponseBody};
use crate::routes;
use crate::settings::Settings;
use pratique::observer::AdmissionPhases;

/// AdmissionReviews over HTTP, without a listener: a [`tower`](Service) service of `http` requests, to be mounted in axum,
/// hyper or another server, and wrapped in layers. Clones are the same service.
///
/// It has the paths of a [`Server`](crate::Server): `/mutate`, `/validate` and `/admit`, and `/livez`, `/readyz`, `/metrics`
/// and `/configz`. With [phases](Self::for_phases), it takes reviews at any path. It is always ready: requests that cannot be
/// evaluated get an HTTP error.
///
/// Of the [`Settings`], metrics and audit apply, and the [limits](crate::Limits) of requests: the size and the time of
/// bodies, the memory of all requests, the number of concurrent evaluations and their timeout. The outer server is
/// responsible for connections, handshakes, heads, certificates, slow readers and authentication. The status page is not
/// served.
///
/// Evaluations run on threads of the service, and wait for I/O on the runtime in which it is created.
///
/// ```
/// use std::sync::Arc;
///
/// use axum::body::{Body, to_bytes};
/// use axum::extract::Request;
/// use axum::{Router, routing};
/// use pratique::Admission;
/// use pratique_metrics::Metrics;
/// use pratique_server::{AdmissionService, KnownState, LiveHandler, LastReloads, Settings};
/// use tower_service::Service;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let live = Admission::builder().live().start()?;
/// let handler = LiveHandler::new(live, LastReloads::default(), KnownState::default());
/// let service = AdmissionService::new(Arc::new(handler), Settings::new(Metrics::new("1.0")));
/// let mut router: Router = Router::new()
///     .nest_service("/admission", service)
///     .route("/version", routing::get("1.0"));
///
/// // `axum::serve` does this with the requests of a listener.
/// let review = r#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
///     "kind": {"group": "", "version": "v1", "kind": "ConfigMap"}, "name": "web", "namespace": "shop",
///     "resource": {"group": "", "version": "v1", "resource": "configmaps"}, "operation": "CREATE",
///     "userInfo": {"username": "ann"}, "object": {"apiVersion": "v1", "kind": "ConfigMap",
///     "metadata": {"name": "web", "namespace": "shop"}}}}"#;
/// let answer = router.call(Request::post("/admission/validate").body(Body::from(review))?).await?;
/// let body = to_bytes(answer.into_body(), 1 << 20).await?;
/// assert!(std::str::from_utf8(&body)?.contains(r#""allowed":true"#));
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AdmissionService {
    inner: Arc<ServiceInner>,
    phases: Option<AdmissionPhases>,
}

struct ServiceInner {
    context: Arc<ServerContext>,
    /// The number of requests so far: each counts as a connection.
    requests: AtomicU64,
    /// The task that checks for background tasks that ended.
    supervisor: AbortHandle,
}

/// The future of a response. Dropping it cancels the evaluation.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

impl AdmissionService {
    /// Creates a service with this handler.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn new(handler: Arc<dyn AdmissionHandler>, settings: Settings) -> Self {
        // The service does not know who may view the status page.
        let settings = Settings {
            page: false,
            ..settings
        };
        let context = Arc::new(ServerContext::new(handler, settings));
        let supervised = context.clone();
        let supervisor = Handle::current().spawn(async move { supervised.supervise().await });
        AdmissionService {
            inner: Arc::new(ServiceInner {
                context,
                requests: AtomicU64::new(0),
                supervisor: supervisor.abort_handle(),
            }),
            phases: None,
        }
    }

    /// The same service for one phase of admission, or both: every path takes reviews. It shares the limits of this one.
    #[must_use]
    pub fn for_phases(&self, phases: AdmissionPhases) -> Self {
        AdmissionService {
            inner: self.inner.clone(),
            phases: Some(phases),
        }
    }
}

impl<B> Service<Request<B>> for AdmissionService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        let (inner, phases) = (self.inner.clone(), self.phases);
        Box::pin(async move {
            let context = &inner.context;
            let number = inner.requests.fetch_add(1, Ordering::Relaxed);
            let connection = Arc::new(TrackedConnection::unregistered(number));
            let share = match response_body::reserve(&request, &connection, context) {
                Ok(share) => share,
                Err(refusal) => {
                    if phases.is_some() && !routes::is_review(request.uri().path()) {
                        refusal_metrics::record(&refusal, &context.metrics);
                    }
                    return Ok(response_body::attach(*refusal, None, &connection));
                }
            };
            let request = request.map(Box::pin);
            let answer = routes::handle(
                request,
                phases,
                ClientPermissions::trusted(),
                false,
                &connection,
                context,
            )
            .await;
            Ok(response_body::attach(answer, share, &connection))
        })
    }
}

impl Drop for ServiceInner {
    fn drop(&mut self) {
        self.supervisor.abort();
    }
}

impl fmt::Debug for AdmissionService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AdmissionService")
            .field("phases", &self.phases)
            .finish_non_exhaustive()
    }
}
