//! A bound to the time that all webhooks of a request may take together.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{LONGEST, refused};
use crate::caller::{Answer, Call, CallError, CallErrorKind, Caller};

/// The caller of one request, whose calls all end within a time that began with it.
///
/// A call that is not answered by then fails, and so do later calls: the failure policy of each webhook decides. The
/// deadline of a request, in contrast, ends the request.
pub struct Budget<'c> {
    caller: &'c dyn Caller,
    whole: Duration,
    until: Instant,
}

impl<'c> Budget<'c> {
    /// Begins now.
    pub fn new(caller: &'c dyn Caller, whole: Duration) -> Self {
        Self::begun(caller, whole, Instant::now().into_std())
    }

    /// Began then: several callers of one request may share a budget.
    pub fn begun(caller: &'c dyn Caller, whole: Duration, then: std::time::Instant) -> Self {
        Self {
            caller,
            whole,
            until: Instant::from_std(then) + whole.min(LONGEST),
        }
    }

    fn used_up(&self) -> CallError {
        let message = format!("the {:?} that all webhooks may take are used up", self.whole);
        refused(&message, CallErrorKind::Timeout)
    }
}

impl Caller for Budget<'_> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        Box::pin(async move {
            if self.until <= Instant::now() {
                return Err(self.used_up());
            }
            let answer = timeout_at(self.until, self.caller.call(call)).await;
            answer.unwrap_or_else(|_| Err(self.used_up()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::{Scripted, call};
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn calls_share_a_budget() {
        let scripted = Scripted {
            takes: Duration::from_secs(2),
            ..Scripted::default()
        };
        let budget = Budget::new(&scripted, Duration::from_secs(3));
        let one = || budget.call(call("a", Duration::from_secs(9)));
        let began = Instant::now();
        assert!(one().await.is_ok());
        let error = one().await.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Timeout);
        assert_eq!(
            error.message,
            "failed to call webhook: the 3s that all webhooks may take are used up"
        );
        assert_eq!(began.elapsed(), Duration::from_secs(3));
        assert!(one().await.is_err());
        assert_eq!(scripted.calls(), 2);
    }
}
