//! One call of a webhook, within its deadline, and the verification of the answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pratique_cel::OutOfMemory;
use pratique_core::{AdmissionPhase, DenialCause};
use pratique_gotext::strconv::quote;
use pratique_types::status::internal_error;
use pratique_types::{Operation, Status};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::answer::{ReadAnswer, VerifiedAnswer};
use crate::caller::{Call, CallErrorKind, Caller};
use crate::context::WebhookContext;
use crate::memory::{self, CallMemory, PhaseMemory};
use crate::observer::{EndedCall, Rejection, WebhookObserver};
use crate::outcome::DispatchEnd;
use crate::review::SharedReview;
use crate::statuses::{no_dry_run, out_of_memory};
use crate::webhook::{CompiledWebhook, SideEffects};

/// Why a webhook does not let a request continue.
#[derive(Clone, Debug)]
pub(crate) enum CallFailure {
    /// It could not be called, or its answer could not be decoded: the failure policy decides.
    Call {
        /// The reason, as an API server gives it.
        reason: String,
        /// The HTTP status code of the failure.
        code: u16,
    },
    /// It denied the request.
    Denied(Box<Status>),
    /// A failure of the server, which no failure policy ignores.
    Server(Box<Status>),
    /// It was not called, and its answer is unknown.
    Unknown,
}

/// The bodies that were sent and received, for observers.
#[derive(Clone, Debug)]
pub(crate) struct CallExchange {
    pub(crate) review: Bytes,
    pub(crate) answer: Bytes,
    pub(crate) duration: Duration,
    /// The memory of both, and of the decoded answer.
    pub(crate) memory: Arc<CallMemory>,
}

/// How long after its deadline a caller may end a call.
const GRACE: Duration = Duration::from_millis(100);

impl CallFailure {
    pub(crate) fn call(reason: impl Into<String>, code: u16) -> Self {
        CallFailure::Call {
            reason: reason.into(),
            code,
        }
    }

    pub(crate) fn internal(error: &str) -> Self {
        CallFailure::Server(Box::new(internal_error(error)))
    }

    pub(crate) fn out_of_memory(webhook: &CompiledWebhook, error: OutOfMemory) -> Self {
        CallFailure::Server(Box::new(out_of_memory(&webhook.name, error)))
    }

    /// Whether the failure policy of the webhook ignores it.
    pub(crate) fn is_ignored(&self, webhook: &CompiledWebhook) -> bool {
        matches!(self, CallFailure::Call { .. }) && webhook.failure_policy.ignores()
    }

    /// The status and cause of the refusal, where it is not ignored.
    pub(crate) fn into_refusal(self, webhook: &CompiledWebhook) -> (Box<Status>, DenialCause) {
        match self {
            CallFailure::Call { reason, .. } => {
                let status = internal_error(&failure_message(webhook, &reason));
                (Box::new(status), DenialCause::Failure)
            }
            CallFailure::Denied(status) => (status, DenialCause::Rule),
            CallFailure::Server(status) => (status, DenialCause::Failure),
            CallFailure::Unknown => (
                Box::new(internal_error(&failure_message(webhook, "it was not called"))),
                DenialCause::Failure,
            ),
        }
    }

    /// The end of the request, where it is not ignored.
    pub(crate) fn into_end(self, webhook: &CompiledWebhook) -> DispatchEnd {
        let (status, cause) = self.into_refusal(webhook);
        DispatchEnd::Refused(status, cause)
    }

    /// The code, rejection and message that are reported for a call that ended so.
    fn reported(&self, webhook: &CompiledWebhook) -> (u16, Option<Rejection>, Option<String>) {
        match self {
            CallFailure::Call { reason, code } => {
                let rejection = (!self.is_ignored(webhook)).then_some(Rejection::CallFailed);
                (*code, rejection, Some(failure_message(webhook, reason)))
            }
            CallFailure::Denied(status) => (
                u16::try_from(status.code).unwrap_or_default(),
                Some(Rejection::Denied),
                None,
            ),
            CallFailure::Server(status) => (0, Some(Rejection::ServerError), Some(status.message.clone())),
            CallFailure::Unknown => (0, None, None),
        }
    }
}

impl CallExchange {
    /// One that has not begun.
    pub(crate) fn new(memory: &PhaseMemory) -> Self {
        CallExchange {
            review: Bytes::new(),
            answer: Bytes::new(),
            duration: Duration::ZERO,
            memory: Arc::new(memory.part()),
        }
    }

    /// Reports the call of a webhook, and its failure, to an observer.
    pub(crate) fn report(
        &self,
        observer: &mut dyn WebhookObserver,
        (webhook, phase): (&CompiledWebhook, AdmissionPhase),
        operation: Operation,
        failure: Option<&CallFailure>,
    ) {
        let reported = failure.map(|failure| failure.reported(webhook));
        let (code, rejection, message) = reported.unwrap_or((200, None, None));
        observer.called(&EndedCall {
            webhook: &webhook.name,
            configuration: &webhook.configuration,
            phase,
            operation,
            duration: self.duration,
            code,
            rejection,
            failure: message.as_deref(),
            failed_open: message.is_some() && rejection.is_none(),
            review: self.review.clone(),
            answer: self.answer.clone(),
        });
    }
}

/// Calls a webhook. There is no review for a webhook that accepts no known version.
// Upstream: pkg/admission/plugin/webhook/mutating/dispatcher.go, callAttrMutatingHook
// Upstream: pkg/admission/plugin/webhook/validating/dispatcher.go, callHook
pub(crate) async fn call_webhook(
    webhook: &CompiledWebhook,
    (phase, dry_run): (AdmissionPhase, bool),
    review: Option<&SharedReview>,
    caller: &dyn Caller,
    (context, memory): (&WebhookContext<'_>, &PhaseMemory),
) -> (CallExchange, Result<VerifiedAnswer, CallFailure>) {
    let began = Instant::now();
    let mut exchange = CallExchange::new(memory);
    let out_of_memory = |error| CallFailure::out_of_memory(webhook, error);
    let answer = async {
        if dry_run {
            check_side_effects(webhook)?;
        }
        let (version, review) = webhook.version.zip(review).ok_or_else(|| {
            let why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
            CallFailure::call(format!("could not create admission objects: {why}"), 400)
        })?;
        let uid = Uuid::new_v4().to_string();
        let call_memory = &exchange.memory;
        call_memory.hold(review.len(&uid)).map_err(out_of_memory)?;
        exchange.review = review.body(&uid);
        let call = (exchange.review.clone(), call_memory.clone());
        exchange.answer = post(webhook, call, caller, context).await?;
        let answer = exchange.answer.len();
        call_memory
            .hold_at_least(exchange.review.len().saturating_add(answer))
            .map_err(out_of_memory)?;
        // The values decoded from it.
        call_memory.hold(answer).map_err(out_of_memory)?;
        let reading = memory.part();
        reading
            .hold(memory::of_answer(&exchange.answer))
            .map_err(out_of_memory)?;
        let hold = |bytes| reading.hold(bytes);
        let answered = ReadAnswer::read(context.release, &exchange.answer, version, &hold)
            .map_err(out_of_memory)?
            .map_err(|error| CallFailure::call(format!("failed to call webhook: {error}"), 503))?;
        answered
            .verified(&uid, version, phase == AdmissionPhase::Mutating)
            .map_err(|error| CallFailure::call(format!("received invalid webhook response: {error}"), 503))
    };
    let answer = answer.await;
    exchange.duration = began.elapsed();
    (exchange, answer)
}

/// Checks that a webhook may be called in a dry run.
fn check_side_effects(webhook: &CompiledWebhook) -> Result<(), CallFailure> {
    match webhook.side_effects {
        SideEffects::NoneOnDryRun => Ok(()),
        SideEffects::Some => Err(CallFailure::Server(Box::new(no_dry_run(&webhook.name)))),
        SideEffects::Unset => Err(CallFailure::call("Webhook SideEffects is nil", 400)),
    }
}

async fn post(
    webhook: &CompiledWebhook,
    (body, memory): (Bytes, Arc<CallMemory>),
    caller: &dyn Caller,
    context: &WebhookContext<'_>,
) -> Result<Bytes, CallFailure> {
    let endpoint = webhook.location.endpoint.clone();
    let endpoint = endpoint.map_err(|error| CallFailure::call(error.to_string(), 500))?;
    let now = Instant::now();
    let of_webhook = webhook.timeout.and_then(|timeout| now.checked_add(timeout));
    let deadline = of_webhook.into_iter().chain(context.deadline()).min();
    let is_shortened = match (of_webhook, context.deadline()) {
        (Some(of_webhook), Some(of_request)) => of_request < of_webhook,
        (None, of_request) => of_request.is_some(),
        (Some(_), None) => false,
    };
    let timeout = deadline.and_then(|deadline| whole_seconds(deadline.saturating_duration_since(now)));
    let called = Arc::clone(&endpoint);
    let unsent = |why: &str| {
        let query = timeout.map_or_else(String::new, |timeout| format!("?timeout={}s", timeout.as_secs()));
        let url = &called.url;
        CallFailure::call(
            format!("failed to call webhook: Post \"{url}{query}\": {why}"),
            503,
        )
    };
    let address = match &webhook.location.service {
        Some(service) => context.services.address(service).map_err(|why| unsent(&why))?,
        None => None,
    };
    let call = caller.call(Call {
        webhook: Arc::clone(&webhook.name),
        endpoint,
        address,
        body,
        timeout,
        deadline: deadline.map(Instant::into_std),
        is_shortened,
        memory,
    });
    let answer = match deadline {
        Some(deadline) => timeout_at(deadline + GRACE, call).await,
        None => Ok(call.await),
    };
    let answer = answer.map_err(|_| unsent("context deadline exceeded"))?;
    answer.map_err(|error| match error.kind {
        CallErrorKind::Client => CallFailure::call(error.message, 500),
        CallErrorKind::Status(code) => CallFailure::call(error.message, code),
        CallErrorKind::Timeout | CallErrorKind::Transport => CallFailure::call(error.message, 503),
        CallErrorKind::OutOfMemory(error) => CallFailure::out_of_memory(webhook, error),
        CallErrorKind::Unknown => CallFailure::Unknown,
    })
}

/// Whole seconds, rounded up; `None` for no time at all.
fn whole_seconds(time: Duration) -> Option<Duration> {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// The message of a failed call.
fn failure_message(webhook: &CompiledWebhook, reason: &str) -> String {
    format!("failed calling webhook {}: {reason}", quote(&webhook.name))
}
