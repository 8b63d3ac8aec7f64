//! An axum router mounts the service below a path, behind a layer and beside other routes.
#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing};
use http_body_util::BodyExt;
use pratique::Admission;
use pratique_metrics::Metrics;
use pratique_server::{AdmissionService, KnownState, LastReloads, LiveHandler, Settings};
use serde_json::{Value, json};
use tower_service::Service;

/// Lets clients with a token pass.
async fn authenticated(request: Request, next: Next) -> Response {
    if request.headers().contains_key("authorization") {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

fn router() -> Router {
    let live = Admission::builder().live().start().unwrap();
    let reviewer = LiveHandler::new(live, LastReloads::default(), KnownState::default());
    let service = AdmissionService::new(Arc::new(reviewer), Settings::new(Metrics::new("test")));
    Router::new()
        .nest_service("/admission", service)
        .layer(from_fn(authenticated))
        .route("/version", routing::get("1.0"))
}

async fn call(
    router: &mut Router,
    request: axum::http::request::Builder,
    body: String,
) -> (StatusCode, Vec<u8>) {
    let request = request.body(Body::from(body)).unwrap();
    let (head, body) = router.call(request).await.unwrap().into_parts();
    (head.status, body.collect().await.unwrap().to_bytes().to_vec())
}

#[tokio::test]
async fn a_router_mounts_the_service() {
    let mut router = router();
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "u", "operation": "CREATE", "name": "web", "namespace": "shop", "userInfo": {"username": "ann"},
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "shop"}},
        },
    });
    let post = || Request::post("/admission/validate");
    let (status, _) = call(&mut router, post(), review.to_string()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let request = post().header("authorization", "Bearer token");
    let (status, body) = call(&mut router, request, review.to_string()).await;
    assert_eq!(status, StatusCode::OK);
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(answer["response"]["allowed"], true);
    let (status, body) = call(&mut router, Request::get("/version"), String::new()).await;
    assert_eq!((status, body.as_slice()), (StatusCode::OK, b"1.0".as_slice()));
}
