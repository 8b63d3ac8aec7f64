//! Guards that keep webhooks that fail, or are slow, from taking everything down with them:
//! [`AdmissionBuilder::guards`](crate::AdmissionBuilder::guards).

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use pratique_webhook::Caller;
use pratique_webhook::transport::{Breaker, LimitedCaller};

/// Protections against failing webhooks that an API server does not have: all are off unless set.
///
/// A call that is refused fails like any other, only at once: the webhook's failure policy decides. Webhooks with the
/// same URL share their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookGuards {
    /// A circuit breaker for webhooks that fail repeatedly.
    pub breaker: Option<BreakerSettings>,
    /// The most concurrent calls of a webhook; others wait, within their timeouts.
    pub calls_at_once: Option<NonZeroUsize>,
    /// The time that all webhooks of a request may take together. Calls that are not answered by then fail, and so do
    /// later calls.
    pub budget: Option<Duration>,
}

/// The settings of a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// After so many failures in a row: no answer in time, none at all, or a status of 429 or from 500 on.
    pub failures: NonZeroU32,
    /// How long it stays open. Then one call is let through, whose result closes it or opens it again.
    pub cool_down: Duration,
}

impl WebhookGuards {
    /// Wraps a caller in the guards for calls of all requests.
    pub(crate) fn around(&self, caller: Arc<dyn Caller>) -> Arc<dyn Caller> {
        let caller: Arc<dyn Caller> = match self.calls_at_once {
            Some(most) => Arc::new(LimitedCaller::new(caller, most.get())),
            None => caller,
        };
        match self.breaker {
            Some(BreakerSettings { failures, cool_down }) => {
                Arc::new(Breaker::new(caller, failures.get(), cool_down))
            }
            None => caller,
        }
    }
}
