//! AdmissionReviews: read, judged, answered.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use hyper::body::Body;
use pratique::policy::{Interrupt, MemoryLimit};
use pratique_audit::{Event, Level};
use pratique_types::{AdmissionRequest, AdmissionResponse, AdmissionReview, admission};
use tokio::time::{timeout, timeout_at};

use crate::annotations;
use crate::body::{self, Unread};
use crate::budget::Share;
use crate::connections::Slot;
use crate::query;
use crate::reservation::Reservation;
use crate::respond::{self, Answer, busy, failure, later};
use crate::reviewer::{Half, Reviewed, Unavailable};
use crate::server::Shared;
use crate::turns::Turn;
use crate::weight::Weight;

/// The longest `uid`, in bytes: API servers send UUIDs.
const MAX_UID: usize = 128;
/// How often a byte of a response is there while it is written.
const ANSWERED: usize = 4;
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
    body: impl Body<Data = Bytes> + Unpin,
    half: Half,
    time: Duration,
    slot: &Arc<Slot>,
    shared: &Arc<Shared>,
) -> Answer {
    let deadline = Instant::now() + time;
    let limits = &shared.limits;
    let Ok(share) = shared.budget.share(0) else {
        return busy();
    };
    let body = match body::read(body, &share, limits.body, limits.body_time.min(time)).await {
        Ok(body) => body,
        Err(unread) => return refused(&unread, limits.body),
    };
    let _busy = slot.busy();
    let turn = shared.turns.take(slot.number());
    let Ok(turn) = timeout(limits.turn.min(time), turn).await else {
        return busy();
    };
    let interrupt = Interrupt::new().with_deadline(deadline);
    let is_small = Weight::is_small(&body);
    let taken = Taken {
        body,
        share,
        turn,
        time,
    };
    let evaluate = evaluate(shared.clone(), half, taken, interrupt.clone());
    let evaluation = shared.evaluators.spawn(is_small, interrupt, evaluate);
    match timeout_at(deadline.into(), evaluation).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::error!(err = %error, "Judging a request failed");
            failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                "judging the request failed",
            )
        }
        Err(_) => late(time),
    }
}

fn late(time: Duration) -> Answer {
    let message = format!("judging the request took longer than {time:?}");
    failure(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
}

/// What a request has taken so far: freed with its evaluation, whenever that ends.
struct Taken {
    body: Vec<u8>,
    share: Share,
    turn: Turn,
    time: Duration,
}

async fn evaluate(shared: Arc<Shared>, half: Half, taken: Taken, interrupt: Interrupt) -> Answer {
    let Taken {
        body,
        share,
        turn,
        time,
    } = taken;
    let answer = review(&shared, half, (&body, &share), interrupt.clone()).await;
    drop((body, turn));
    if interrupt.is_set() {
        return late(time);
    }
    let mut answer = answer.unwrap_or_else(|refusal| *refusal);
    // Smaller than what was reserved, or it would not have been written.
    if share.resize(answer.body().len()).is_err() {
        return busy();
    }
    answer.extensions_mut().insert(Arc::new(share));
    answer
}

/// What expressions hold comes out of the same budget.
fn evaluation_limits(shared: &Shared, interrupt: Interrupt) -> Result<pratique::Limits, Box<Answer>> {
    let share = shared.budget.share(0).map_err(|_| busy())?;
    let memory = MemoryLimit::new(shared.limits.request_memory()).with_budget(Arc::new(share));
    Ok(pratique::Limits::from(interrupt).with_memory(memory))
}

async fn review(
    shared: &Shared,
    half: Half,
    (body, share): (&Vec<u8>, &Share),
    interrupt: Interrupt,
) -> Result<Answer, Box<Answer>> {
    let (received, start) = (SystemTime::now(), Instant::now());
    let weight = Weight::of(body);
    let mut memory = Reservation::new(shared, share, body.capacity());
    memory.wait_for_others(weight.presumed(half)).await?;
    memory.reserve(weight.parsed()).await?;
    let review = AdmissionReview::parse(body)
        .map_err(|error| bad(format!("the body is no AdmissionReview: {error}")))?;
    let request = asked(&review)?;
    let needed = weight.needed(request, half);
    memory.reserve(needed).await?;
    let limits = evaluation_limits(shared, interrupt)?;
    let reviewed = shared.reviewer.review(half, request, &limits).await;
    let mut reviewed = reviewed.map_err(|why| unavailable(&why))?;
    if limits.interrupt.is_set() {
        // It is too late for a decision, also for one that says so.
        return Err(busy().into());
    }
    drop(limits);
    reviewed.response.uid.clone_from(&request.uid);
    let answered = bytes_of(&reviewed.response);
    if answered > body.len() {
        // Webhooks said more than the request did.
        let answered = answered.saturating_mul(ANSWERED);
        memory.reserve(needed.saturating_add(answered)).await?;
    }
    shared.note(half, request, &reviewed, (received, start.elapsed()));
    let mut response = reviewed.response;
    response.audit_annotations = annotations::of_webhook(response.audit_annotations);
    let answer = AdmissionReview {
        api_version: review.api_version,
        ..AdmissionReview::answer(response)
    };
    Ok(respond::review(&answer, shared.limits.answer))
}

/// How many bytes the texts of a response have that may be long.
fn bytes_of(response: &AdmissionResponse) -> usize {
    let message = response.result.as_ref().map_or(0, |status| status.message.len());
    let patch = response.patch.as_ref().map_or(0, String::len);
    let annotations = response.audit_annotations.iter();
    let annotations = annotations.map(|(key, value)| key.len() + value.len());
    annotations.sum::<usize>() + message + patch
}

/// The request of a review that an API server may have sent.
fn asked<'r>(review: &'r AdmissionReview<'r>) -> Result<&'r AdmissionRequest<'r>, Box<Answer>> {
    if review.kind != admission::KIND
        || ![admission::API_VERSION, OLDER_VERSION].contains(&&*review.api_version)
    {
        let message = format!("expected an AdmissionReview of {}", admission::API_VERSION);
        return Err(bad(format!(
            "{message}, found kind {:?} of {:?}",
            review.kind, review.api_version
        )));
    }
    let Some(request) = &review.request else {
        return Err(bad("the AdmissionReview has no request".into()));
    };
    if let Err(error) = request.validate() {
        // No policy might be about it, and whoever asks would be told that it is allowed.
        return Err(bad(format!(
            "no API server sends the request of this AdmissionReview: {error}"
        )));
    }
    if request.uid.len() > MAX_UID {
        // It is a UUID, and goes back in the answer.
        return Err(bad(format!(
            "the uid of the request of the AdmissionReview is longer than {MAX_UID} bytes"
        )));
    }
    Ok(request)
}

fn bad(message: String) -> Box<Answer> {
    failure(StatusCode::BAD_REQUEST, "BadRequest", message).into()
}

fn unavailable(why: &Unavailable) -> Answer {
    later(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        why.to_string(),
    )
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
        Unread::Busy => busy(),
        Unread::Evicted => later(
            StatusCode::REQUEST_TIMEOUT,
            "Timeout",
            "the body arrived slowly, and its memory was needed for other requests",
        ),
        Unread::Broken => failure(StatusCode::BAD_REQUEST, "BadRequest", "the body broke off"),
    }
}
