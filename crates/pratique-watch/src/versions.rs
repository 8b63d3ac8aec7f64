//! Waiting for the next version of a live value.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use crate::load::Version;

/// The versions of a [`Watched`](crate::Watched) directory from now on, for tasks and threads that wait for them.
///
/// Versions that are replaced before they are asked for are passed over: what is given is always the one in use. It does
/// not keep the directory watched.
pub struct Versions<T> {
    current: Arc<ArcSwap<Version<T>>>,
    notices: Arc<Notices>,
    seen: u64,
}

impl<T> Versions<T> {
    pub(crate) fn new(current: Arc<ArcSwap<Version<T>>>, notices: Arc<Notices>) -> Self {
        let seen = current.load().number;
        Versions {
            current,
            notices,
            seen,
        }
    }

    /// Waits for a version that this has not given yet; `None` once the directory is not watched any more. It needs no
    /// particular runtime, and the future can be dropped at any time.
    pub async fn next(&mut self) -> Option<Arc<Version<T>>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// [`next`](Self::next) for tasks that are polled by hand.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Version<T>>>> {
        // Whoever makes a version takes the lock after that, to tell: it is seen now, or told later.
        let notices = Arc::clone(&self.notices);
        let mut state = notices.lock();
        match (self.take(), state.has_ended) {
            (Some(version), _) => Poll::Ready(Some(version)),
            (None, true) => Poll::Ready(None),
            (None, false) => {
                let waker = context.waker();
                if !state.wakers.iter().any(|known| known.will_wake(waker)) {
                    state.wakers.push(waker.clone());
                }
                Poll::Pending
            }
        }
    }

    /// Blocks the thread until there is a version that this has not given yet, but not for longer than `time`; `None` where
    /// there is none by then, or the directory is not watched any more.
    pub fn wait(&mut self, time: Duration) -> Option<Arc<Version<T>>> {
        let until = Instant::now().checked_add(time);
        let notices = Arc::clone(&self.notices);
        let mut state = notices.lock();
        loop {
            if let Some(version) = self.take() {
                return Some(version);
            }
            let left = until.map_or(Duration::MAX, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if state.has_ended || left.is_zero() {
                return None;
            }
            let waited = notices.told.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The version in use, unless it was given.
    fn take(&mut self) -> Option<Arc<Version<T>>> {
        let current = self.current.load_full();
        let is_new = current.number != self.seen;
        self.seen = current.number;
        is_new.then_some(current)
    }
}

impl<T> Clone for Versions<T> {
    fn clone(&self) -> Self {
        Versions {
            current: Arc::clone(&self.current),
            notices: Arc::clone(&self.notices),
            seen: self.seen,
        }
    }
}

impl<T> fmt::Debug for Versions<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Versions")
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

/// Tells those who wait for versions.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    state: Mutex<State>,
    told: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wakers: Vec<Waker>,
    has_ended: bool,
}

impl Notices {
    /// There is another version.
    pub(crate) fn notify(&self) {
        self.change(|_| ());
    }

    /// There will be no more.
    fn end(&self) {
        self.change(|state| state.has_ended = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.told.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// What a thread that panicked left is whole: a flag is set or it is not.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that there will be no more versions once the thread that makes them ends, however that comes about.
#[derive(Debug)]
pub(crate) struct EndsWith(pub(crate) Arc<Notices>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    use std::thread;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn version(number: u64) -> Version<u64> {
        Version {
            value: number,
            hash: number.to_string(),
            number,
        }
    }

    #[test]
    fn tasks_are_woken_once_and_see_the_last() {
        let current = Arc::new(ArcSwap::from_pointee(version(1)));
        let notices = Arc::new(Notices::default());
        let mut versions = Versions::new(current.clone(), notices.clone());
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let mut context = Context::from_waker(&waker);
        for _ in 0..3 {
            assert!(versions.poll_next(&mut context).is_pending());
        }
        for number in [2, 3] {
            current.store(Arc::new(version(number)));
            notices.notify();
        }
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        let Poll::Ready(Some(seen)) = versions.poll_next(&mut context) else {
            panic!("there is one");
        };
        assert_eq!(seen.value, 3);
        assert!(versions.poll_next(&mut context).is_pending());
        drop(EndsWith(notices));
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        assert!(matches!(versions.poll_next(&mut context), Poll::Ready(None)));
    }

    #[test]
    fn threads_wait_as_long_as_they_want() {
        let current = Arc::new(ArcSwap::from_pointee(version(1)));
        let notices = Arc::new(Notices::default());
        let mut versions = Versions::new(current.clone(), notices.clone());
        assert!(versions.wait(Duration::from_millis(1)).is_none());
        let mut other = versions.clone();
        let waiting = thread::spawn(move || other.wait(Duration::MAX).map(|seen| seen.value));
        current.store(Arc::new(version(2)));
        notices.notify();
        assert_eq!(waiting.join().unwrap(), Some(2));
        drop(EndsWith(notices));
        assert_eq!(versions.wait(Duration::MAX).map(|seen| seen.value), Some(2));
        assert!(versions.wait(Duration::MAX).is_none());
    }
}
