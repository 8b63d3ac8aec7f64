//! Guards that keep webhooks that fail, or are slow, from taking everything down with them:
//! [`AdmissionBuilder::guards`](crate::AdmissionBuilder::guards).

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use pratique_webhook::Caller;
use pratique_webhook::transport::{Breaker, Limited};

/// What an API server does not do for webhooks: nothing of it is done unless it is set.
///
/// A call that is refused fails like any other, only at once: the webhook's failure policy says what that means.
/// Webhooks at one URL count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guards {
    /// Leaves a webhook alone that fails again and again.
    pub breaker: Option<Breaking>,
    /// How many calls of a webhook may be under way at once; others wait, within their time.
    pub calls_at_once: Option<NonZeroUsize>,
    /// How long all webhooks of a request may take together. Calls that are not answered by then fail, and so do those
    /// that come after.
    pub budget: Option<Duration>,
}

/// When a webhook is left alone, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaking {
    /// After so many failures in a row: no answer in time, none at all, or a status of 429 or from 500 on.
    pub failures: NonZeroU32,
    /// For how long no call is made. Then one is, and decides whether others may be.
    pub cool_down: Duration,
}

impl Guards {
    /// Puts what is for calls of all requests around a caller.
    pub(crate) fn around(&self, caller: Arc<dyn Caller>) -> Arc<dyn Caller> {
        let caller: Arc<dyn Caller> = match self.calls_at_once {
            Some(most) => Arc::new(Limited::new(caller, most.get())),
            None => caller,
        };
        match self.breaker {
            Some(Breaking { failures, cool_down }) => {
                Arc::new(Breaker::new(caller, failures.get(), cool_down))
            }
            None => caller,
        }
    }
}
