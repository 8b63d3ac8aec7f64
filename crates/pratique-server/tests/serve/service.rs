//! Reviews as a `tower` service, as other servers mount it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use pratique_metrics::Metrics;
use pratique_server::{AdmissionPhases, AdmissionService, Limits, Settings};
use serde_json::Value;
use tower_service::Service;

use super::client::review;
use super::handler::{DEADLINE, TestHandler};

fn service(limits: Limits) -> (AdmissionService, Metrics) {
    let (service, metrics, _) = held_service(limits);
    (service, metrics)
}

/// A service, and the handler that holds its requests.
fn held_service(limits: Limits) -> (AdmissionService, Metrics, Arc<TestHandler>) {
    let handler = Arc::new(TestHandler::default());
    let metrics = Metrics::new("test");
    let settings = Settings {
        limits,
        page: true,
        ..Settings::new(metrics.clone())
    };
    let service = AdmissionService::new(handler.clone(), settings);
    (service, metrics, handler)
}

async fn call<S, B>(service: &mut S, path: &str, body: impl Into<Bytes>) -> Response<Bytes>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes, Error = Infallible>,
{
    let request = Request::post(path).body(Full::new(body.into())).unwrap();
    let (head, body) = service.call(request).await.unwrap().into_parts();
    Response::from_parts(head, body.collect().await.unwrap().to_bytes())
}

fn allowed(answer: &Response<Bytes>) -> bool {
    let body: Value = serde_json::from_slice(answer.body()).unwrap();
    body["response"]["allowed"].as_bool().unwrap()
}

/// What axum's `nest_service` and `route_service` ask of a service.
fn can_be_mounted<S, B>(_: &S)
where
    S: Service<Request<Full<Bytes>>, Error = Infallible, Response = Response<B>>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
}

/// A layer around a service.
#[derive(Clone)]
struct Marked<S>(S);

impl<S: Service<Request<Full<Bytes>>>> Service<Request<Full<Bytes>>> for Marked<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Full<Bytes>>) -> S::Future {
        request
            .headers_mut()
            .insert("content-type", HeaderValue::from_static("text/plain"));
        self.0.call(request)
    }
}

#[tokio::test]
async fn a_service_answers_as_a_server_does() {
    let (mut service, metrics) = service(Limits::default());
    can_be_mounted(&service);
    let answer = call(&mut service, "/validate", review("web").to_string()).await;
    assert_eq!(answer.status(), 200);
    assert!(allowed(&answer));
    assert!(!allowed(
        &call(&mut service, "/validate", review("deny").to_string()).await
    ));
    assert_eq!(call(&mut service, "/validate", "[]").await.status(), 400);
    assert_eq!(
        call(&mut service, "/validate?timeout=20ms", review("hold").to_string())
            .await
            .status(),
        504
    );
    assert_eq!(call(&mut service, "/nowhere", "").await.status(), 404);
    // Nobody knows who is allowed to see it.
    assert_eq!(call(&mut service, "/", "").await.status(), 404);
    let health = Request::get("/readyz").body(Full::<Bytes>::default()).unwrap();
    assert_eq!(service.call(health).await.unwrap().status(), 200);
    let text = metrics.render(pratique_metrics::Format::accepted(""));
    assert!(text.contains("reason=\"BadRequest\"} 1"), "{text}");
}

#[tokio::test]
async fn phases_take_reviews_at_any_path() {
    let (service, _) = service(Limits::default());
    let mut validating = service.for_phases(AdmissionPhases::Validating);
    assert!(allowed(
        &call(&mut validating, "/my/hook", review("web").to_string()).await
    ));
    let mutated = call(
        &mut service.for_phases(AdmissionPhases::Mutating),
        "/validate",
        review("web").to_string(),
    )
    .await;
    let validated = call(&mut validating, "/mutate", review("web").to_string()).await;
    assert_ne!(mutated.body(), validated.body(), "the phases count, not the path");
}

#[tokio::test]
async fn layers_come_before_it() {
    let (service, _) = service(Limits::default());
    let mut marked = Marked(service);
    can_be_mounted(&marked);
    assert_eq!(
        call(&mut marked, "/validate", review("web").to_string())
            .await
            .status(),
        415
    );
}

#[tokio::test]
async fn requests_are_limited() {
    let (mut limited, _) = service(Limits {
        body: 1000,
        ..Limits::default()
    });
    assert_eq!(
        call(&mut limited, "/validate", vec![b' '; 1001]).await.status(),
        413
    );
    let (mut one, _, handler) = held_service(Limits {
        requests: 1,
        queue_timeout: Duration::from_millis(10),
        default_timeout: 10 * DEADLINE,
        ..Limits::default()
    });
    let mut other = one.clone();
    let (slow, refused) = tokio::join!(call(&mut one, "/validate", review("hold").to_string()), async {
        while handler.held.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let refused = call(&mut other, "/validate", review("web").to_string()).await;
        handler.release();
        refused
    });
    assert_eq!((slow.status().as_u16(), refused.status().as_u16()), (200, 429));
    let (mut none, _) = service(Limits {
        memory: 0,
        ..Limits::default()
    });
    assert_eq!(
        call(&mut none, "/validate", review("web").to_string())
            .await
            .status(),
        429
    );
}
