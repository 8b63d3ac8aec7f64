//! A circuit breaker, which opens for a while after consecutive failures.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::endpoint_map::EndpointMap;
use super::{LONGEST, refused};
use crate::caller::{Answer, Call, CallError, CallErrorKind, Caller, Endpoint};

/// Refuses calls to endpoints that fail.
///
/// After a number of consecutive failures the breaker opens: calls fail at once, for the duration of the cool-down.
/// Then one call is let through; if it succeeds, the breaker closes, otherwise the cool-down begins again. Failures are
/// timeouts, errors of the connection, and the statuses 429 and from 500 on; any other answer shows that the webhook
/// responds. A call that its request does not give the webhook's own time says nothing, unless it is answered: whoever asks would
/// otherwise open the breaker for everybody.
pub struct Breaker<C> {
    caller: C,
    failures: u32,
    cool_down: Duration,
    states: EndpointMap<Mutex<BreakerState>>,
}

#[derive(Clone, Copy, Debug)]
enum BreakerState {
    /// Calls go through; the number of consecutive failures.
    Closed(u32),
    /// Calls are refused until then.
    Open(Instant),
    /// One call is out to see.
    Probing,
}

/// A call under way. One that is dropped leaves the state as if it had not been tried, unless its time was over.
struct BreakerAttempt<'a> {
    state: &'a Mutex<BreakerState>,
    failures: u32,
    cool_down: Duration,
    deadline: Option<Instant>,
    is_shortened: bool,
    ended: bool,
}

impl<C> Breaker<C> {
    /// Opens after that many failures in a row, for that long.
    pub fn new(caller: C, failures: u32, cool_down: Duration) -> Self {
        Self {
            caller,
            failures: failures.max(1),
            cool_down: cool_down.min(LONGEST),
            states: EndpointMap::new(),
        }
    }

    /// The wrapped caller.
    pub fn inner(&self) -> &C {
        &self.caller
    }

    fn admit(&self, state: &mut BreakerState) -> Result<(), CallError> {
        let now = Instant::now();
        let left = match *state {
            BreakerState::Closed(_) => return Ok(()),
            BreakerState::Open(until) if until <= now => {
                *state = BreakerState::Probing;
                return Ok(());
            }
            BreakerState::Open(until) => until - now,
            BreakerState::Probing => Duration::ZERO,
        };
        let message = format!(
            "the circuit breaker is open after {} failures in a row; it is tried again in {}s",
            self.failures,
            left.as_secs() + u64::from(left.subsec_nanos() > 0)
        );
        Err(refused(&message, CallErrorKind::Transport))
    }
}

impl<C: Caller> Caller for Breaker<C> {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        Box::pin(async move {
            let state = self
                .states
                .entry(&call.endpoint, || Mutex::new(BreakerState::Closed(0)));
            self.admit(&mut lock(&state))?;
            let mut attempt = BreakerAttempt {
                state: &state,
                failures: self.failures,
                cool_down: self.cool_down,
                deadline: call.deadline.map(Instant::from_std),
                is_shortened: call.is_shortened,
                ended: false,
            };
            let answer = self.caller.call(call).await;
            let failure = answer.as_ref().err().map(|error| error.kind);
            if !(attempt.is_shortened && failure == Some(CallErrorKind::Timeout)) {
                attempt.end(failure.is_some_and(is_failure));
            }
            answer
        })
    }

    fn retain(&self, endpoints: &HashSet<&Endpoint>) {
        self.states.retain(endpoints);
        self.caller.retain(endpoints);
    }
}

impl BreakerAttempt<'_> {
    fn end(&mut self, failed: bool) {
        self.ended = true;
        let mut state = lock(self.state);
        *state = match *state {
            _ if !failed => BreakerState::Closed(0),
            BreakerState::Closed(failures) if failures + 1 < self.failures => {
                BreakerState::Closed(failures + 1)
            }
            // Calls that began before it opened do not change its state.
            BreakerState::Open(until) => BreakerState::Open(until),
            BreakerState::Closed(_) | BreakerState::Probing => {
                BreakerState::Open(Instant::now() + self.cool_down)
            }
        };
    }
}

impl Drop for BreakerAttempt<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let is_over = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_over && !self.is_shortened {
            return self.end(true);
        }
        let mut state = lock(self.state);
        if matches!(*state, BreakerState::Probing) {
            *state = BreakerState::Open(Instant::now());
        }
    }
}

fn lock(state: &Mutex<BreakerState>) -> MutexGuard<'_, BreakerState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_failure(kind: CallErrorKind) -> bool {
    match kind {
        CallErrorKind::Timeout | CallErrorKind::Transport => true,
        CallErrorKind::Status(code) => code == 429 || code >= 500,
        CallErrorKind::Client | CallErrorKind::OutOfMemory(_) | CallErrorKind::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted::{Scripted, call};
    use super::*;

    const COOL_DOWN: Duration = Duration::from_secs(10);
    const SOON: Duration = Duration::from_secs(5);

    fn breaker(answers: &[Result<(), CallErrorKind>]) -> Breaker<Scripted> {
        let scripted = Scripted {
            answers: Mutex::new(answers.iter().copied().collect()),
            takes: Duration::from_secs(1),
            ..Scripted::default()
        };
        Breaker::new(scripted, 3, COOL_DOWN)
    }

    async fn message(breaker: &Breaker<Scripted>) -> String {
        let answer = breaker.call(call("a", SOON)).await;
        answer.map_or_else(|error| error.message, |_| "yes".to_owned())
    }

    const FAILED: Result<(), CallErrorKind> = Err(CallErrorKind::Transport);
    const NO: &str = "failed to call webhook: no";

    fn open(seconds: u64) -> String {
        format!(
            "failed to call webhook: the circuit breaker is open after 3 failures in a row; it is tried again in \
             {seconds}s"
        )
    }

    #[tokio::test(start_paused = true)]
    async fn opens_after_failures_in_a_row() {
        let breaker = breaker(&[
            FAILED,
            FAILED,
            Ok(()),
            FAILED,
            Err(CallErrorKind::Timeout),
            FAILED,
        ]);
        for expected in [NO, NO, "yes", NO, NO, NO] {
            assert_eq!(message(&breaker).await, expected);
        }
        let began = Instant::now();
        assert_eq!(message(&breaker).await, open(10));
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(breaker.inner().calls(), 6);
        let other = breaker.call(call("b", SOON)).await;
        assert!(other.is_ok(), "another endpoint is not concerned");
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_tries_again() {
        let breaker = breaker(&[FAILED, FAILED, FAILED, FAILED]);
        for _ in 0..3 {
            message(&breaker).await;
        }
        tokio::time::sleep(COOL_DOWN).await;
        let (probe, other) = tokio::join!(message(&breaker), message(&breaker));
        assert_eq!((probe.as_str(), other), (NO, open(0)));
        assert_eq!(message(&breaker).await, open(10));
        tokio::time::sleep(COOL_DOWN).await;
        assert_eq!(message(&breaker).await, "yes");
        assert_eq!(message(&breaker).await, "yes");
    }

    #[tokio::test(start_paused = true)]
    async fn answers_that_show_life_do_not_count() {
        let kinds = [
            CallErrorKind::Status(404),
            CallErrorKind::Client,
            CallErrorKind::Status(403),
        ];
        let breaker = breaker(&kinds.map(Err));
        for expected in [NO, NO, NO, "yes"] {
            assert_eq!(message(&breaker).await, expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_attempt_is_tried_by_the_next() {
        let breaker = breaker(&[FAILED, FAILED, FAILED]);
        for _ in 0..3 {
            message(&breaker).await;
        }
        tokio::time::sleep(COOL_DOWN).await;
        let soon = tokio::time::timeout(Duration::from_millis(10), breaker.call(call("a", SOON))).await;
        assert!(soon.is_err());
        assert_eq!(message(&breaker).await, "yes");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_dropped_after_its_time_counts() {
        let breaker = breaker(&[]);
        for _ in 0..3 {
            let late = breaker.call(call("a", Duration::from_millis(5)));
            let late = tokio::time::timeout(Duration::from_millis(10), late).await;
            assert!(late.is_err());
        }
        assert_eq!(message(&breaker).await, open(10));
    }

    /// Whoever may ask could otherwise open it with requests that end early.
    #[tokio::test(start_paused = true)]
    async fn a_request_that_ends_early_says_nothing_of_the_webhook() {
        let breaker = breaker(&[Err(CallErrorKind::Timeout); 4]);
        let shortened = || Call {
            is_shortened: true,
            ..call("a", Duration::from_millis(5))
        };
        for _ in 0..4 {
            assert!(breaker.call(shortened()).await.is_err());
        }
        for _ in 0..4 {
            let dropped = breaker.call(shortened());
            assert!(
                tokio::time::timeout(Duration::from_millis(10), dropped)
                    .await
                    .is_err()
            );
        }
        assert_eq!(message(&breaker).await, "yes");
    }
}
