//! AdmissionReviews: read, judged, answered.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use hyper::body::Incoming;
use pratique_audit::{Event, Level};
use pratique_types::{AdmissionRequest, AdmissionReview, admission};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use crate::annotations;
use crate::body::{Read, Unread};
use crate::connections::Slot;
use crate::query;
use crate::respond::{Answer, failure, json, later};
use crate::reviewer::{Half, Reviewed, Unavailable};
use crate::server::Shared;

/// The older version of reviews, of the same shape.
const OLDER_VERSION: &str = "admission.k8s.io/v1beta1";

/// How long a review may take as its head says; or why there is none.
pub(crate) fn time(head: &Parts, shared: &Shared) -> Result<Duration, Box<Answer>> {
    shared
        .reviewer
        .ready()
        .map_err(|why| Box::new(unavailable(&why)))?;
    if !is_json(head) {
        let message = "the content type of an AdmissionReview is application/json";
        let code = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(failure(code, "UnsupportedMediaType", message).into());
    }
    let limits = &shared.limits;
    query::timeout(head.uri.query())
        .map(|time| time.unwrap_or(limits.time).min(limits.longest))
        .map_err(|message| failure(StatusCode::BAD_REQUEST, "BadRequest", message).into())
}

/// Answers an AdmissionReview.
pub(crate) async fn answer(
    body: Incoming,
    half: Half,
    time: Duration,
    slot: &Arc<Slot>,
    shared: &Arc<Shared>,
) -> Answer {
    let deadline = Instant::now() + time;
    let limits = &shared.limits;
    let body = match shared
        .memory
        .read(body, limits.body, limits.body_time.min(time))
        .await
    {
        Ok(body) => body,
        Err(unread) => return refused(&unread, limits.body),
    };
    let _busy = slot.busy();
    let Ok(turn) = shared.requests.clone().try_acquire_owned() else {
        return later(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "too many requests, please try again later",
        );
    };
    // A task of its own: a panic ends in it, and it can be left behind when nobody waits any more.
    let judging = tokio::spawn(judge(shared.clone(), half, body, deadline, turn));
    match tokio::time::timeout_at(deadline.into(), judging).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::error!(err = %error, "Judging a request failed");
            failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                "judging the request failed",
            )
        }
        Err(_) => {
            let message = format!("judging the request took longer than {time:?}");
            failure(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
        }
    }
}

async fn judge(
    shared: Arc<Shared>,
    half: Half,
    body: Read,
    deadline: Instant,
    turn: OwnedSemaphorePermit,
) -> Answer {
    let (received, start) = (SystemTime::now(), Instant::now());
    let bad = |message: String| failure(StatusCode::BAD_REQUEST, "BadRequest", message);
    let review: AdmissionReview<'_> = match read(&body.bytes) {
        Ok(review) => review,
        Err(error) => return bad(format!("the body is no AdmissionReview: {error}")),
    };
    if review.kind != admission::KIND
        || ![admission::API_VERSION, OLDER_VERSION].contains(&&*review.api_version)
    {
        let message = format!("expected an AdmissionReview of {}", admission::API_VERSION);
        return bad(format!(
            "{message}, found kind {:?} of {:?}",
            review.kind, review.api_version
        ));
    }
    let Some(request) = &review.request else {
        return bad("the AdmissionReview has no request".into());
    };
    if request.resource.resource.is_empty() {
        // No policy would be about it, and whoever asks would be told that it is allowed.
        return bad("the request of the AdmissionReview names no resource".into());
    }
    let mut reviewed = match shared.reviewer.review(half, request, deadline).await {
        Ok(reviewed) => reviewed,
        Err(why) => return unavailable(&why),
    };
    drop(turn);
    reviewed.response.uid.clone_from(&request.uid);
    shared.note(half, request, &reviewed, (received, start.elapsed()));
    let mut response = reviewed.response;
    response.audit_annotations = annotations::of_webhook(response.audit_annotations);
    let answer = AdmissionReview {
        api_version: review.api_version,
        ..AdmissionReview::answer(response)
    };
    json(StatusCode::OK, &answer)
}

fn unavailable(why: &Unavailable) -> Answer {
    later(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        why.to_string(),
    )
}

/// Reads a review. Its objects bound how deeply they nest, and nothing else in it nests.
fn read(bytes: &[u8]) -> Result<AdmissionReview<'_>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    deserializer.disable_recursion_limit();
    let review = AdmissionReview::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(review)
}

impl Shared {
    /// Keeps what there is to keep of a decision.
    fn note(
        &self,
        half: Half,
        request: &AdmissionRequest<'_>,
        reviewed: &Reviewed,
        (received, elapsed): (SystemTime, Duration),
    ) {
        if let Some(recent) = &self.recent {
            recent.add(path(half), request, reviewed, (received, elapsed));
        }
        let response = &reviewed.response;
        let Some(log) = self.audit.as_ref().filter(|log| log.level() > Level::None) else {
            return;
        };
        self.metrics.audit_event();
        let times = (received, received + elapsed);
        // What is lost is counted by an observer of the log.
        let _ = log.record(&Event::new(log.level(), request, response, times));
    }
}

fn path(half: Half) -> &'static str {
    match half {
        Half::Mutating => "/mutate",
        Half::Validating => "/validate",
        Half::Both => "/admit",
    }
}

/// Whether a body is JSON as far as its sender says.
fn is_json(head: &Parts) -> bool {
    let Some(content_type) = head.headers.get(CONTENT_TYPE) else {
        return true;
    };
    let essence = content_type
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn refused(unread: &Unread, limit: usize) -> Answer {
    match unread {
        Unread::TooLarge => {
            let message = format!("Request entity too large: limit is {limit}");
            failure(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
        }
        Unread::Slow => failure(StatusCode::REQUEST_TIMEOUT, "Timeout", "the body took too long"),
        Unread::Busy => later(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "too many requests, please try again later",
        ),
        Unread::Broken => failure(StatusCode::BAD_REQUEST, "BadRequest", "the body broke off"),
    }
}
