//! Whether requests can be evaluated, and the tasks that wait for that.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use pratique_policy::UnfinishedEvaluation;

/// Why a request is not evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnavailableReason {
    /// Not every source was loaded yet.
    #[error("not ready: not every source was loaded yet")]
    NotReady,
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// An authorization check was sent and never answered.
    #[error("an authorization check was not answered")]
    Unanswered,
    /// The request was interrupted before its deadline.
    #[error("interrupted")]
    Interrupted,
}

impl From<UnfinishedEvaluation> for UnavailableReason {
    fn from(unfinished: UnfinishedEvaluation) -> Self {
        match unfinished {
            UnfinishedEvaluation::Pending => UnavailableReason::Unanswered,
            UnfinishedEvaluation::Interrupted => UnavailableReason::Interrupted,
            // The chain answers these itself.
            UnfinishedEvaluation::MemoryLimit | UnfinishedEvaluation::MemoryBudget => {
                UnavailableReason::Interrupted
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LiveReadiness(Mutex<ReadyState>);

#[derive(Debug, Default)]
struct ReadyState {
    ready: bool,
    stopped: bool,
    waiting: Vec<Waker>,
}

impl ReadyState {
    fn wake_later(&mut self, context: &Context<'_>) {
        let waker = context.waker();
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            self.waiting.push(waker.clone());
        }
    }
}

impl LiveReadiness {
    pub(super) fn check_ready(&self) -> Result<(), UnavailableReason> {
        let state = self.lock();
        match (state.stopped, state.ready) {
            (true, _) => Err(UnavailableReason::Stopped),
            (false, false) => Err(UnavailableReason::NotReady),
            (false, true) => Ok(()),
        }
    }

    /// Waits until it is ready, or stopped.
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Result<(), UnavailableReason>> {
        let mut state = self.lock();
        match (state.stopped, state.ready) {
            (true, _) => Poll::Ready(Err(UnavailableReason::Stopped)),
            (false, true) => Poll::Ready(Ok(())),
            (false, false) => {
                state.wake_later(context);
                Poll::Pending
            }
        }
    }

    /// Waits until it is stopped or `find_value` returns one; it is called whenever a new configuration is in effect.
    pub(super) fn poll_for<T>(
        &self,
        context: &mut Context<'_>,
        find_value: impl FnOnce() -> Option<T>,
    ) -> Poll<Result<T, UnavailableReason>> {
        let mut state = self.lock();
        if state.stopped {
            return Poll::Ready(Err(UnavailableReason::Stopped));
        }
        // A later change wakes the task: it takes the lock after the change is in effect.
        match find_value() {
            Some(value) => Poll::Ready(Ok(value)),
            None => {
                state.wake_later(context);
                Poll::Pending
            }
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        let state = self.lock();
        state.ready && !state.stopped
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    pub(super) fn set_ready(&self) {
        self.change(|state| state.ready = true);
    }

    pub(super) fn set_stopped(&self) {
        self.change(|state| state.stopped = true);
    }

    /// Changes the state, and wakes all waiting tasks.
    fn change(&self, change: impl FnOnce(&mut ReadyState)) {
        let mut state = self.lock();
        change(&mut state);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The state is consistent even after a panic: each change sets one flag.
    fn lock(&self) -> MutexGuard<'_, ReadyState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn waiting_tasks_are_woken_once() {
        let readiness = LiveReadiness::default();
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let mut context = Context::from_waker(&waker);
        assert_eq!(readiness.check_ready(), Err(UnavailableReason::NotReady));
        for _ in 0..3 {
            assert!(readiness.poll(&mut context).is_pending());
        }
        readiness.set_ready();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert_eq!(readiness.poll(&mut context), Poll::Ready(Ok(())));
        readiness.set_stopped();
        assert_eq!(
            readiness.poll(&mut context),
            Poll::Ready(Err(UnavailableReason::Stopped))
        );
        assert!(!readiness.is_ready());
    }
}
