//! Handling of AdmissionReviews: read, evaluated, answered.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use hyper::body::Body;
use pratique::policy::{Interrupt, MemoryLimit};
use pratique_audit::{Event, Level};
use pratique_types::{AdmissionRequest, AdmissionResponse, AdmissionReview};
use tokio::time::{timeout, timeout_at};

use crate::annotations;
use crate::backlog::{BacklogPlace, SLOW_BODY};
use crate::body::{self, BodyError};
use crate::budget::BudgetShare;
use crate::connections::TrackedConnection;
use crate::context::ServerContext;
use crate::fair_semaphore::FairPermit;
use crate::handler::{HandlerUnavailable, ReviewResult};
use crate::limits::Limits;
use crate::query;
use crate::reservation::MemoryReservation;
use crate::respond::{self, HttpResponse, failure, later, too_many_requests};
use crate::weight::ReviewWeight;
use pratique::observer::AdmissionPhases;

/// The maximum size of a `uid`, in bytes: API servers send UUIDs.
const MAX_UID: usize = 128;
/// The number of copies of a response while it is serialised.
const ANSWERED: usize = 4;

/// Checks readiness and the head of a review request. Returns its timeout, or the error response.
pub(crate) fn check_head(head: &Parts, context: &ServerContext) -> Result<Duration, Box<HttpResponse>> {
    context
        .handler
        .ready()
        .map_err(|why| Box::new(unavailable(&why)))?;
    if !is_json(head) {
        let message = "the content type of an AdmissionReview is application/json";
        let code = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(failure(code, "UnsupportedMediaType", message).into());
    }
    let limits = &context.limits;
    query::timeout(head.uri.query())
        .map(|time| time.unwrap_or(limits.default_timeout).min(limits.max_timeout))
        .map_err(|message| failure(StatusCode::BAD_REQUEST, "BadRequest", message.to_string()).into())
}

/// Handles an AdmissionReview.
pub(crate) async fn handle(
    body: impl Body<Data = Bytes> + Unpin,
    phases: AdmissionPhases,
    time: Duration,
    connection: &Arc<TrackedConnection>,
    context: &Arc<ServerContext>,
) -> HttpResponse {
    // What it waited for being read counts as if it had been read at once.
    let mut place = connection.backlog.take();
    let waited = place.as_ref().map_or(Duration::ZERO, |place| place.waited);
    let deadline = Instant::now() + time.saturating_sub(waited);
    let limits = &context.limits;
    let Ok(share) = context.budget.share(0) else {
        return too_many_requests();
    };
    let body = match read_body(body, &share, &mut place, limits, time).await {
        Ok(body) => body,
        Err(error) => return body_error_response(&error, limits.body),
    };
    connection.exchange.receive();
    let _active = connection.start_review();
    let permit = context.evaluation_permits.acquire(connection.number());
    let queued = limits.queue_timeout.saturating_sub(waited).min(time);
    let Ok(permit) = timeout(queued, permit).await else {
        return too_many_requests();
    };
    let interrupt = Interrupt::new().with_deadline(deadline);
    let small = ReviewWeight::small(&body);
    let accepted = AcceptedReview {
        body,
        share,
        permit,
        place,
        small,
        time,
    };
    let evaluate = evaluate(context.clone(), phases, accepted, interrupt.clone());
    let evaluation = context.evaluators.spawn(small.is_some(), interrupt, evaluate);
    match timeout_at(deadline.into(), evaluation).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::error!(err = %error, "Evaluating a request failed");
            failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                "evaluating the request failed",
            )
        }
        Err(_) => timed_out(time),
    }
}

/// Reads a body, and gives up the place of the request if that takes long.
async fn read_body(
    body: impl Body<Data = Bytes> + Unpin,
    share: &BudgetShare,
    place: &mut Option<BacklogPlace>,
    limits: &Limits,
    time: Duration,
) -> Result<Vec<u8>, BodyError> {
    let mut time = limits.body_timeout.min(time);
    let mut reading = pin!(body::read(body, share, limits.body));
    if place.is_some() && SLOW_BODY < time {
        if let Ok(read) = timeout(SLOW_BODY, reading.as_mut()).await {
            return read;
        }
        *place = None;
        time -= SLOW_BODY;
    }
    timeout(time, reading).await.unwrap_or(Err(BodyError::Slow))
}

fn timed_out(time: Duration) -> HttpResponse {
    let message = format!("evaluating the request took longer than {time:?}");
    failure(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
}

/// What a request has accepted so far: freed with its evaluation, whenever that ends.
struct AcceptedReview {
    body: Vec<u8>,
    share: BudgetShare,
    permit: FairPermit,
    place: Option<BacklogPlace>,
    small: Option<ReviewWeight>,
    time: Duration,
}

async fn evaluate(
    context: Arc<ServerContext>,
    phases: AdmissionPhases,
    accepted: AcceptedReview,
    interrupt: Interrupt,
) -> HttpResponse {
    let AcceptedReview {
        body,
        share,
        permit,
        place,
        small,
        time,
    } = accepted;
    // The next request may be read.
    drop(place);
    let weight = ReviewWeight::with_small(&body, small);
    let answer = review(&context, phases, (&body, weight, &share), interrupt.clone()).await;
    drop((body, permit));
    if interrupt.is_set() {
        return timed_out(time);
    }
    let mut answer = answer.unwrap_or_else(|refusal| *refusal);
    // The response is smaller than the reservation.
    if share.resize(answer.body().len()).is_err() {
        return too_many_requests();
    }
    answer.extensions_mut().insert(Arc::new(share));
    answer
}

/// The limits of an evaluation. The memory of expressions is taken from the same budget.
fn evaluation_limits(
    context: &ServerContext,
    interrupt: Interrupt,
) -> Result<pratique::Limits, Box<HttpResponse>> {
    let share = context.budget.share(0).map_err(|_| too_many_requests())?;
    let memory = MemoryLimit::new(context.limits.request_memory()).with_budget(Arc::new(share));
    Ok(pratique::Limits::from(interrupt).with_memory(memory))
}

async fn review(
    context: &ServerContext,
    phases: AdmissionPhases,
    (body, weight, share): (&Vec<u8>, ReviewWeight, &BudgetShare),
    interrupt: Interrupt,
) -> Result<HttpResponse, Box<HttpResponse>> {
    let (received, start) = (SystemTime::now(), Instant::now());
    let mut memory = MemoryReservation::new(context, share, body.capacity());
    memory.wait_for_large_requests(weight.presumed(phases)).await?;
    memory.reserve(weight.parsed()).await?;
    let review = AdmissionReview::parse(body)
        .map_err(|error| bad_request(format!("the body is no AdmissionReview: {error}")))?;
    let request = validated_request(&review)?;
    let needed = weight.needed(request, phases);
    memory.reserve(needed).await?;
    let limits = evaluation_limits(context, interrupt)?;
    let reviewed = context.handler.handle(phases, request, &limits).await;
    let mut reviewed = reviewed.map_err(|why| unavailable(&why))?;
    if limits.interrupt.is_set() {
        // The deadline has passed: the decision, also one about that, is not used.
        return Err(too_many_requests().into());
    }
    drop(limits);
    reviewed.response.uid.clone_from(&request.uid);
    let answered = bytes_of(&reviewed.response);
    if answered > body.len() {
        // Webhooks returned more than the request had.
        let answered = answered.saturating_mul(ANSWERED);
        memory.reserve(needed.saturating_add(answered)).await?;
    }
    context.record(phases, request, &reviewed, (received, start.elapsed()));
    let mut response = reviewed.response;
    response.audit_annotations = annotations::of_webhook(response.audit_annotations);
    let answer = review.answer_with(response);
    Ok(respond::review(&answer, context.limits.response))
}

/// The size of the texts of a response that may be long, in bytes.
fn bytes_of(response: &AdmissionResponse) -> usize {
    let message = response.result.as_ref().map_or(0, |status| status.message.len());
    let patch = response.patch.as_ref().map_or(0, String::len);
    let annotations = response.audit_annotations.iter();
    let annotations = annotations.map(|(key, value)| key.len() + value.len());
    annotations.sum::<usize>() + message + patch
}

/// The request of a review, if an API server can have sent it.
fn validated_request<'r>(
    review: &'r AdmissionReview<'r>,
) -> Result<&'r AdmissionRequest<'r>, Box<HttpResponse>> {
    // Of what no API server sends, no policy might match, and it would be allowed.
    let request = review
        .valid_request()
        .map_err(|error| bad_request(error.to_string()))?;
    if request.uid.len() > MAX_UID {
        // It is copied to the response.
        return Err(bad_request(format!(
            "the uid of the request of the AdmissionReview is longer than {MAX_UID} bytes"
        )));
    }
    Ok(request)
}

fn bad_request(message: String) -> Box<HttpResponse> {
    failure(StatusCode::BAD_REQUEST, "BadRequest", message).into()
}

fn unavailable(why: &HandlerUnavailable) -> HttpResponse {
    later(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        why.to_string(),
    )
}

impl ServerContext {
    /// Records a decision in the audit log, on the status page, and with its request in the record of requests.
    fn record(
        &self,
        phases: AdmissionPhases,
        request: &AdmissionRequest<'_>,
        reviewed: &ReviewResult,
        (received, elapsed): (SystemTime, Duration),
    ) {
        if let Some(recent) = &self.recent {
            recent.add(path_of(phases), request, reviewed, (received, elapsed));
        }
        let response = &reviewed.response;
        if let Some(recorder) = &self.recorder {
            recorder.record(request, response);
        }
        let Some(log) = self.audit.as_ref().filter(|log| log.level() > Level::None) else {
            return;
        };
        self.metrics.audit_event();
        let times = (received, received + elapsed);
        // Losses are counted by the observer of the log.
        let _ = log.record(&Event::new(log.level(), request, response, times));
    }
}

fn path_of(phases: AdmissionPhases) -> &'static str {
    match phases {
        AdmissionPhases::Mutating => "/mutate",
        AdmissionPhases::Validating => "/validate",
        AdmissionPhases::Both => "/admit",
    }
}

/// Whether the content type is that of JSON, or missing.
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

fn body_error_response(error: &BodyError, limit: usize) -> HttpResponse {
    match error {
        BodyError::TooLarge => {
            let message = format!("Request entity too large: limit is {limit}");
            failure(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", message)
        }
        BodyError::Slow => failure(StatusCode::REQUEST_TIMEOUT, "Timeout", "the body took too long"),
        BodyError::NoMemory => too_many_requests(),
        BodyError::Evicted => later(
            StatusCode::REQUEST_TIMEOUT,
            "Timeout",
            "the body arrived slowly, and its memory was needed for other requests",
        ),
        BodyError::Broken => failure(StatusCode::BAD_REQUEST, "BadRequest", "the body broke off"),
    }
}
