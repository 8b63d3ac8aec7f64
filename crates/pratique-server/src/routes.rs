//! HTTP routes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::Body;
use pratique_metrics::Format;
use tokio::time::timeout;

use crate::body::drain;
use crate::client::ClientPermissions;
use crate::configz::ConfigzContent;
use crate::connections::TrackedConnection;
use crate::context::ServerContext;
use crate::host;
use crate::page;
use crate::refusal_metrics;
use crate::respond::{HttpResponse, failure, json, plain, respond_text, with, without_body};
use crate::review;
use pratique::observer::AdmissionPhases;

/// Handles a request. With `phases`, every path takes reviews; otherwise the path selects the route. `leaving` is whether
/// the server is shutting down.
pub(crate) async fn handle<B: Body<Data = Bytes> + Unpin>(
    request: Request<B>,
    phases: Option<AdmissionPhases>,
    client: ClientPermissions,
    leaving: bool,
    connection: &Arc<TrackedConnection>,
    context: &Arc<ServerContext>,
) -> HttpResponse {
    let (head, body) = request.into_parts();
    let phases = phases.or_else(|| phases_of(head.uri.path()));
    let accepted = match phases {
        Some(phases) => accept_review(phases, &head, client, context),
        None => Err(get(&head, client, leaving, context).into()),
    };
    let answer = match accepted {
        Ok((phases, time)) => review::handle(body, phases, time, connection, context).await,
        Err(answer) => {
            let limits = &context.limits;
            let _ = timeout(limits.body_timeout, drain(body, limits.body)).await;
            match head.method {
                Method::HEAD => without_body(*answer),
                _ => *answer,
            }
        }
    };
    if phases.is_some() {
        refusal_metrics::record(&answer, &context.metrics);
    }
    answer
}

/// The phases of a review path.
fn phases_of(path: &str) -> Option<AdmissionPhases> {
    match path {
        "/mutate" => Some(AdmissionPhases::Mutating),
        "/validate" => Some(AdmissionPhases::Validating),
        "/admit" => Some(AdmissionPhases::Both),
        _ => None,
    }
}

/// Handles a request to the health listener.
pub(crate) fn health(head: &Parts, leaving: bool, context: &ServerContext) -> HttpResponse {
    let path = head.uri.path();
    let client = ClientPermissions::trusted();
    let answer = if is_health(path) || path == "/metrics" {
        get(head, client, leaving, context)
    } else {
        not_found()
    };
    match head.method {
        Method::HEAD => without_body(answer),
        _ => answer,
    }
}

/// Whether a path takes reviews.
pub(crate) fn is_review(path: &str) -> bool {
    phases_of(path).is_some()
}

/// Whether a path is a health check.
pub(crate) fn is_health(path: &str) -> bool {
    matches!(path, "/livez" | "/healthz" | "/readyz")
}

/// Checks the head of a review request. Returns its phases and timeout, or the error response.
fn accept_review(
    phases: AdmissionPhases,
    head: &Parts,
    client: ClientPermissions,
    context: &ServerContext,
) -> Result<(AdmissionPhases, Duration), Box<HttpResponse>> {
    if head.method != Method::POST {
        return Err(with(method_not_allowed("POST"), ALLOW, "POST").into());
    }
    if !client.may_review {
        return Err(unauthorized().into());
    }
    Ok((phases, review::check_head(head, context)?))
}

/// Handles a request to any other path than those of reviews.
fn get(head: &Parts, client: ClientPermissions, leaving: bool, context: &ServerContext) -> HttpResponse {
    let path = head.uri.path();
    let exists = match path {
        "/livez" | "/healthz" | "/readyz" | "/metrics" | "/configz" => true,
        "/" => context.recent.is_some(),
        _ => false,
    };
    if !exists {
        return not_found();
    }
    if ![Method::GET, Method::HEAD].contains(&head.method) {
        return with(method_not_allowed("GET"), ALLOW, "GET, HEAD");
    }
    match path {
        "/readyz" => ready(leaving, context),
        "/metrics" if context.protected_metrics && !client.may_review => unauthorized(),
        "/metrics" => metrics(head, context),
        "/configz" | "/" if !client.may_review => unauthorized(),
        "/" if !client.may_view_status => forbidden(),
        "/" if !host_is_allowed(head, client, context) => misdirected(),
        "/configz" => json(StatusCode::OK, &configuration(leaving, context)),
        "/" => page::response(&configuration(leaving, context), head.uri.query(), context),
        _ => alive(context),
    }
}

/// Whether the status page may be served for the host of a request.
fn host_is_allowed(head: &Parts, client: ClientPermissions, context: &ServerContext) -> bool {
    host::requested_host(head).is_some_and(|host| host::is_allowed(&host, client.local, &context.page_hosts))
}

/// Liveness fails once a background task has ended: only a restart helps.
fn alive(context: &ServerContext) -> HttpResponse {
    match ended_tasks(context) {
        None => plain(StatusCode::OK, "ok"),
        Some(why) => plain(StatusCode::INTERNAL_SERVER_ERROR, &why),
    }
}

fn ended_tasks(context: &ServerContext) -> Option<String> {
    let tasks = context.ended_tasks();
    (!tasks.is_empty()).then(|| format!("background tasks ended: {}", tasks.join(", ")))
}

fn ready(leaving: bool, context: &ServerContext) -> HttpResponse {
    match not_ready_reason(leaving, context) {
        None => plain(StatusCode::OK, "ok"),
        Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, &why),
    }
}

fn not_ready_reason(leaving: bool, context: &ServerContext) -> Option<String> {
    if leaving {
        return Some("shutting down".into());
    }
    let unready = context.handler.ready().err().map(|why| why.to_string());
    unready.or_else(|| ended_tasks(context))
}

fn metrics(head: &Parts, context: &ServerContext) -> HttpResponse {
    let accept = head.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let format = Format::accepted(accept.unwrap_or_default());
    respond_text(
        StatusCode::OK,
        format.content_type(),
        context.metrics.render(format),
    )
}

fn configuration(leaving: bool, context: &ServerContext) -> ConfigzContent {
    let not_ready = not_ready_reason(leaving, context);
    ConfigzContent {
        version: env!("CARGO_PKG_VERSION"),
        kubernetes_version: context.handler.kubernetes_version().map(str::to_owned),
        ready: not_ready.is_none(),
        not_ready,
        ended_tasks: context.ended_tasks(),
        sources: context.handler.sources(),
        certificates: context
            .certificates
            .as_ref()
            .map(|certificates| certificates.sources())
            .unwrap_or_default(),
    }
}

fn not_found() -> HttpResponse {
    let message = "the server could not find the requested resource";
    failure(StatusCode::NOT_FOUND, "NotFound", message)
}

fn method_not_allowed(allowed: &str) -> HttpResponse {
    let message = format!("the server does not allow this method on the requested resource, only {allowed}");
    failure(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}

fn unauthorized() -> HttpResponse {
    failure(
        StatusCode::UNAUTHORIZED,
        "Unauthorized",
        "a client certificate is needed",
    )
}

fn misdirected() -> HttpResponse {
    let message = "the page is for localhost, for addresses of this machine, and for the names that \
        --status-page-hosts gives";
    failure(StatusCode::MISDIRECTED_REQUEST, "MisdirectedRequest", message)
}

fn forbidden() -> HttpResponse {
    let message = "the page is for this machine only: forward a port, or have clients show certificates";
    failure(StatusCode::FORBIDDEN, "Forbidden", message)
}
