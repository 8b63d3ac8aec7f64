//! One call of a webhook: asked in time, and its answer verified.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pratique_cel::OutOfMemory;
use pratique_gotext::strconv::quote;
use pratique_types::Status;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::answer::{Answered, Verified};
use crate::caller::{Call, CallErrorKind, Caller};
use crate::memory::{self, CallMemory, PhaseMemory};
use crate::observer::{Called, Does, Rejection};
use crate::review::Review;
use crate::statuses::{internal, no_dry_run, out_of_memory};
use crate::surroundings::Surroundings;
use crate::webhook::{SideEffects, Webhook};

/// Why a webhook does not let a request go on.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// It could not be called, or its answer not be read: the failure policy says what that means.
    Call {
        /// Why, in the reference's words.
        reason: String,
        /// The HTTP code that stands for it.
        code: u16,
    },
    /// It denied the request.
    Denied(Box<Status>),
    /// What no failure policy ignores.
    Server(Box<Status>),
}

/// What went over the wire, for those who look on.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) review: Bytes,
    pub(crate) answer: Bytes,
    pub(crate) duration: Duration,
    /// What both hold, and what was read of the answer.
    pub(crate) memory: Arc<CallMemory>,
}

/// How long a caller may take to end a call whose time is up.
const GRACE: Duration = Duration::from_millis(100);

impl Failure {
    pub(crate) fn call(reason: impl Into<String>, code: u16) -> Self {
        Failure::Call {
            reason: reason.into(),
            code,
        }
    }

    pub(crate) fn internal(error: &str) -> Self {
        Failure::Server(Box::new(internal(error)))
    }

    pub(crate) fn out_of_memory(webhook: &Webhook, error: OutOfMemory) -> Self {
        Failure::Server(Box::new(out_of_memory(&webhook.name, error)))
    }

    /// The status that the request is refused with, where it is not ignored.
    pub(crate) fn status(self, webhook: &Webhook) -> Status {
        match self {
            Failure::Call { reason, .. } => internal(&failed(webhook, &reason)),
            Failure::Denied(status) | Failure::Server(status) => *status,
        }
    }

    /// What is told of a call that ended so.
    pub(crate) fn told(&self, webhook: &Webhook) -> (u16, Option<Rejection>, Option<String>) {
        match self {
            Failure::Call { reason, code } => {
                let rejection = (!webhook.ignores_failures()).then_some(Rejection::CallFailed);
                (*code, rejection, Some(failed(webhook, reason)))
            }
            Failure::Denied(status) => (
                u16::try_from(status.code).unwrap_or_default(),
                Some(Rejection::Denied),
                None,
            ),
            Failure::Server(status) => (0, Some(Rejection::ServerError), Some(status.message.clone())),
        }
    }
}

impl Exchange {
    /// One that has not begun.
    pub(crate) fn new(memory: &PhaseMemory) -> Self {
        Exchange {
            review: Bytes::new(),
            answer: Bytes::new(),
            duration: Duration::ZERO,
            memory: Arc::new(memory.part()),
        }
    }

    /// What those who look on are told of it.
    pub(crate) fn told<'a>(
        &self,
        webhook: &'a Webhook,
        does: Does,
        operation: pratique_types::Operation,
        (code, rejection, failure): (u16, Option<Rejection>, Option<&'a str>),
    ) -> Called<'a> {
        Called {
            webhook: &webhook.name,
            configuration: &webhook.configuration,
            does,
            operation,
            duration: self.duration,
            code,
            rejection,
            failure,
            failed_open: failure.is_some() && rejection.is_none(),
            review: self.review.clone(),
            answer: self.answer.clone(),
        }
    }
}

/// Asks a webhook; there is no review where it reads no version that is known.
pub(crate) async fn ask(
    webhook: &Webhook,
    does: Does,
    dry_run: bool,
    review: Option<&Review>,
    caller: &dyn Caller,
    (surroundings, memory): (&Surroundings<'_>, &PhaseMemory),
) -> (Exchange, Result<Verified, Failure>) {
    let began = Instant::now();
    let mut exchange = Exchange::new(memory);
    let no_memory = |error| Failure::out_of_memory(webhook, error);
    let asked = async {
        if dry_run {
            may_run_dry(webhook)?;
        }
        let (version, review) = webhook.version.zip(review).ok_or_else(|| {
            let why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
            Failure::call(format!("could not create admission objects: {why}"), 400)
        })?;
        let uid = Uuid::new_v4().to_string();
        let held = &exchange.memory;
        held.hold(review.len(&uid)).map_err(no_memory)?;
        exchange.review = review.body(&uid);
        let call = (exchange.review.clone(), held.clone());
        exchange.answer = post(webhook, call, caller, surroundings).await?;
        let answer = exchange.answer.len();
        held.hold_at_least(exchange.review.len().saturating_add(answer))
            .map_err(no_memory)?;
        // What is taken out of it.
        held.hold(answer).map_err(no_memory)?;
        let reading = memory.part();
        reading
            .hold(memory::of_answer(&exchange.answer))
            .map_err(no_memory)?;
        let hold = |bytes| reading.hold(bytes);
        let answered = Answered::read(&exchange.answer, version, &hold)
            .map_err(no_memory)?
            .map_err(|error| Failure::call(format!("failed to call webhook: {error}"), 503))?;
        answered
            .verified(&uid, version, does == Does::Mutate)
            .map_err(|error| Failure::call(format!("received invalid webhook response: {error}"), 503))
    };
    let asked = asked.await;
    exchange.duration = began.elapsed();
    (exchange, asked)
}

fn may_run_dry(webhook: &Webhook) -> Result<(), Failure> {
    match webhook.side_effects {
        SideEffects::NoneOnDryRun => Ok(()),
        SideEffects::Some => Err(Failure::Server(Box::new(no_dry_run(&webhook.name)))),
        SideEffects::Unset => Err(Failure::call("Webhook SideEffects is nil", 400)),
    }
}

async fn post(
    webhook: &Webhook,
    (body, memory): (Bytes, Arc<CallMemory>),
    caller: &dyn Caller,
    surroundings: &Surroundings<'_>,
) -> Result<Bytes, Failure> {
    let endpoint = webhook.location.endpoint.clone();
    let endpoint = endpoint.map_err(|error| Failure::call(error, 500))?;
    let now = Instant::now();
    let own = webhook.timeout.and_then(|timeout| now.checked_add(timeout));
    let of_request = surroundings.interrupt.deadline().map(Instant::from_std);
    let deadline = own.into_iter().chain(of_request).min();
    let timeout = deadline.and_then(|deadline| in_seconds(deadline.saturating_duration_since(now)));
    let asked = Arc::clone(&endpoint);
    let unsent = |why: &str| {
        let query = timeout.map_or_else(String::new, |timeout| format!("?timeout={}s", timeout.as_secs()));
        let url = &asked.url;
        Failure::call(
            format!("failed to call webhook: Post \"{url}{query}\": {why}"),
            503,
        )
    };
    let address = match &webhook.location.service {
        Some(service) => surroundings
            .services
            .address(service)
            .map_err(|why| unsent(&why))?,
        None => None,
    };
    let call = caller.call(Call {
        endpoint,
        address,
        body,
        timeout,
        deadline: deadline.map(Instant::into_std),
        memory,
    });
    let answer = match deadline {
        Some(deadline) => timeout_at(deadline + GRACE, call).await,
        None => Ok(call.await),
    };
    let answer = answer.map_err(|_| unsent("context deadline exceeded"))?;
    answer.map_err(|error| match error.kind {
        CallErrorKind::Client => Failure::call(error.message, 500),
        CallErrorKind::Status(code) => Failure::call(error.message, code),
        CallErrorKind::Timeout | CallErrorKind::Transport => Failure::call(error.message, 503),
        CallErrorKind::OutOfMemory(error) => Failure::out_of_memory(webhook, error),
    })
}

/// Whole seconds, rounded up; none for no time at all.
fn in_seconds(time: Duration) -> Option<Duration> {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

fn failed(webhook: &Webhook, reason: &str) -> String {
    format!("failed calling webhook {}: {reason}", quote(&webhook.name))
}
