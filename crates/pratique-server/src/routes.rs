//! What is where.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::Body;
use pratique_metrics::Format;
use tokio::time::timeout;

use crate::body::forget;
use crate::client::Client;
use crate::configz::Configuration;
use crate::connections::Slot;
use crate::context::ServerContext;
use crate::host;
use crate::page;
use crate::refused;
use crate::respond::{Answer, failure, json, plain, text, with, without_body};
use crate::review;
use crate::reviewer::Half;

/// Answers a request of a client, by a server that is leaving or not. With a half, it is a review by that half wherever it
/// goes; otherwise its path says what it is.
pub(crate) async fn answer<B: Body<Data = Bytes> + Unpin>(
    request: Request<B>,
    half: Option<Half>,
    client: Client,
    leaving: bool,
    slot: &Arc<Slot>,
    shared: &Arc<ServerContext>,
) -> Answer {
    let (head, body) = request.into_parts();
    let half = half.or_else(|| half_of(head.uri.path()));
    let accepted = match half {
        Some(half) => asked(half, &head, client, shared),
        None => Err(look(&head, client, leaving, shared).into()),
    };
    let answer = match accepted {
        Ok((half, time)) => review::answer(body, half, time, slot, shared).await,
        Err(answer) => {
            let limits = &shared.limits;
            let _ = timeout(limits.body_time, forget(body, limits.body)).await;
            match head.method {
                Method::HEAD => without_body(*answer),
                _ => *answer,
            }
        }
    };
    if half.is_some() {
        refused::count(&answer, &shared.metrics);
    }
    answer
}

/// The half of admission that a path is for.
fn half_of(path: &str) -> Option<Half> {
    match path {
        "/mutate" => Some(Half::Mutating),
        "/validate" => Some(Half::Validating),
        "/admit" => Some(Half::Both),
        _ => None,
    }
}

/// Answers where there is nothing but health and metrics.
pub(crate) fn health(head: &Parts, leaving: bool, shared: &ServerContext) -> Answer {
    let path = head.uri.path();
    let client = Client::trusted();
    let answer = match is_health(path) || path == "/metrics" {
        true => look(head, client, leaving, shared),
        false => not_found(),
    };
    match head.method {
        Method::HEAD => without_body(answer),
        _ => answer,
    }
}

/// Whether a path takes reviews.
pub(crate) fn is_review(path: &str) -> bool {
    half_of(path).is_some()
}

/// Whether a path tells probes how the server is.
pub(crate) fn is_health(path: &str) -> bool {
    matches!(path, "/livez" | "/healthz" | "/readyz")
}

/// Which half of admission is to judge, within which time; or why none does.
fn asked(
    half: Half,
    head: &Parts,
    client: Client,
    shared: &ServerContext,
) -> Result<(Half, Duration), Box<Answer>> {
    if head.method != Method::POST {
        return Err(with(wrong_method("POST"), ALLOW, "POST").into());
    }
    if !client.may_review {
        return Err(unknown().into());
    }
    Ok((half, review::time(head, shared)?))
}

/// What can be looked at.
fn look(head: &Parts, client: Client, leaving: bool, shared: &ServerContext) -> Answer {
    let path = head.uri.path();
    let exists = match path {
        "/livez" | "/healthz" | "/readyz" | "/metrics" | "/configz" => true,
        "/" => shared.recent.is_some(),
        _ => false,
    };
    if !exists {
        return not_found();
    }
    if ![Method::GET, Method::HEAD].contains(&head.method) {
        return with(wrong_method("GET"), ALLOW, "GET, HEAD");
    }
    match path {
        "/readyz" => ready(leaving, shared),
        "/metrics" if shared.protected_metrics && !client.may_review => unknown(),
        "/metrics" => metrics(head, shared),
        "/configz" | "/" if !client.may_review => unknown(),
        "/" if !client.may_view_status => elsewhere(),
        "/" if !is_for_us(head, client, shared) => misdirected(),
        "/configz" => json(StatusCode::OK, &configuration(leaving, shared)),
        "/" => page::answer(&configuration(leaving, shared), head.uri.query(), shared),
        _ => alive(shared),
    }
}

/// Whether the status page is for the host that a request names.
fn is_for_us(head: &Parts, client: Client, shared: &ServerContext) -> bool {
    host::of(head).is_some_and(|host| host::is_ours(&host, client.local, &shared.page_hosts))
}

/// A task that ended does not come back: a restart is what helps.
fn alive(shared: &ServerContext) -> Answer {
    match ended(shared) {
        None => plain(StatusCode::OK, "ok"),
        Some(why) => plain(StatusCode::INTERNAL_SERVER_ERROR, &why),
    }
}

fn ended(shared: &ServerContext) -> Option<String> {
    let tasks = shared.ended_tasks();
    (!tasks.is_empty()).then(|| format!("background tasks ended: {}", tasks.join(", ")))
}

fn ready(leaving: bool, shared: &ServerContext) -> Answer {
    match why_not_ready(leaving, shared) {
        None => plain(StatusCode::OK, "ok"),
        Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, &why),
    }
}

fn why_not_ready(leaving: bool, shared: &ServerContext) -> Option<String> {
    if leaving {
        return Some("shutting down".into());
    }
    let unready = shared.reviewer.ready().err().map(|why| why.to_string());
    unready.or_else(|| ended(shared))
}

fn metrics(head: &Parts, shared: &ServerContext) -> Answer {
    let accept = head.headers.get(ACCEPT).and_then(|own| own.to_str().ok());
    let format = Format::accepted(accept.unwrap_or_default());
    text(
        StatusCode::OK,
        format.content_type(),
        shared.metrics.render(format),
    )
}

fn configuration(leaving: bool, shared: &ServerContext) -> Configuration {
    let not_ready = why_not_ready(leaving, shared);
    Configuration {
        version: env!("CARGO_PKG_VERSION"),
        ready: not_ready.is_none(),
        not_ready,
        ended_tasks: shared.ended_tasks(),
        sources: shared.reviewer.sources(),
        certificates: shared
            .certificates
            .as_ref()
            .map(|own| own.sources())
            .unwrap_or_default(),
    }
}

fn not_found() -> Answer {
    let message = "the server could not find the requested resource";
    failure(StatusCode::NOT_FOUND, "NotFound", message)
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

fn misdirected() -> Answer {
    let message = "the page is for localhost, for addresses of this machine, and for the names that \
        --status-page-hosts gives";
    failure(StatusCode::MISDIRECTED_REQUEST, "MisdirectedRequest", message)
}

fn elsewhere() -> Answer {
    let message = "the page is for this machine only: forward a port, or have clients show certificates";
    failure(StatusCode::FORBIDDEN, "Forbidden", message)
}
