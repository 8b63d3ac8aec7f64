//! What is where.

use std::sync::Arc;

use http::header::{ACCEPT, ALLOW};
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use pratique_metrics::Format;

use crate::configz::Configuration;
use crate::connections::Slot;
use crate::page;
use crate::respond::{Answer, failure, json, plain, text, with};
use crate::review;
use crate::reviewer::Half;
use crate::server::Shared;

/// Answers a request: of a client that is known or not, by a server that is leaving or not.
pub(crate) async fn answer(
    request: Request<Incoming>,
    known: bool,
    leaving: bool,
    slot: &Arc<Slot>,
    shared: &Arc<Shared>,
) -> Answer {
    let half = match request.uri().path() {
        "/mutate" => Half::Mutating,
        "/validate" => Half::Validating,
        "/admit" => Half::Both,
        _ => return look(&request, known, leaving, shared),
    };
    if request.method() != Method::POST {
        return with(wrong_method("POST"), ALLOW, "POST");
    }
    if !known {
        return unknown();
    }
    review::answer(request, half, slot, shared).await
}

/// What can be looked at.
fn look(request: &Request<Incoming>, known: bool, leaving: bool, shared: &Shared) -> Answer {
    let path = request.uri().path();
    let exists = match path {
        "/livez" | "/healthz" | "/readyz" | "/metrics" | "/configz" => true,
        "/" => shared.recent.is_some(),
        _ => false,
    };
    if !exists {
        return failure(
            StatusCode::NOT_FOUND,
            "NotFound",
            "the server could not find the requested resource",
        );
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return with(wrong_method("GET"), ALLOW, "GET, HEAD");
    }
    match path {
        "/readyz" => ready(leaving, shared),
        "/metrics" => metrics(request, shared),
        "/configz" | "/" if !known => unknown(),
        "/configz" => json(StatusCode::OK, &configuration(leaving, shared)),
        "/" => page::answer(&configuration(leaving, shared), shared),
        _ => plain(StatusCode::OK, "ok"),
    }
}

fn ready(leaving: bool, shared: &Shared) -> Answer {
    match why_not_ready(leaving, shared) {
        None => plain(StatusCode::OK, "ok"),
        Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, &why),
    }
}

fn why_not_ready(leaving: bool, shared: &Shared) -> Option<String> {
    if leaving {
        return Some("shutting down".into());
    }
    shared.reviewer.ready().err().map(|why| why.to_string())
}

fn metrics(request: &Request<Incoming>, shared: &Shared) -> Answer {
    let accept = request.headers().get(ACCEPT).and_then(|own| own.to_str().ok());
    let format = Format::accepted(accept.unwrap_or_default());
    text(
        StatusCode::OK,
        format.content_type(),
        shared.metrics.render(format),
    )
}

fn configuration(leaving: bool, shared: &Shared) -> Configuration {
    let not_ready = why_not_ready(leaving, shared);
    Configuration {
        version: env!("CARGO_PKG_VERSION"),
        ready: not_ready.is_none(),
        not_ready,
        sources: shared.reviewer.sources(),
    }
}

fn wrong_method(right: &str) -> Answer {
    let message = format!("the server does not allow this method on the requested resource, only {right}");
    failure(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}

fn unknown() -> Answer {
    failure(
        StatusCode::UNAUTHORIZED,
        "Unauthorized",
        "a client certificate is needed",
    )
}
