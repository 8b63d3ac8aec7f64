//! Notification of new versions.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use crate::load::Version;

/// The future versions of a [`Watched`](crate::Watched) directory, for tasks and threads that wait for them.
///
/// Yields the current version only: versions that are replaced earlier are skipped. It does not keep the directory
/// watched.
pub struct Versions<T> {
    current: Arc<ArcSwap<Version<T>>>,
    notifier: Arc<ChangeNotifier>,
    last: u64,
}

impl<T> Versions<T> {
    pub(crate) fn new(current: Arc<ArcSwap<Version<T>>>, notifier: Arc<ChangeNotifier>) -> Self {
        let last = current.load().number;
        Versions {
            current,
            notifier,
            last,
        }
    }

    /// Waits for the next version; `None` once the directory is no longer watched. Works with any runtime, and is
    /// cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Version<T>>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// The poll function of [`next`](Self::next).
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Arc<Version<T>>>> {
        // A new version is stored before the lock is taken to notify: it is seen here, or the waker is called.
        let notifier = Arc::clone(&self.notifier);
        let mut state = notifier.lock();
        match (self.take(), state.is_closed) {
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

    /// Blocks the thread until the next version; `None` after the timeout, or once the directory is no longer watched.
    pub fn wait(&mut self, timeout: Duration) -> Option<Arc<Version<T>>> {
        let until = Instant::now().checked_add(timeout);
        let notifier = Arc::clone(&self.notifier);
        let mut state = notifier.lock();
        loop {
            if let Some(version) = self.take() {
                return Some(version);
            }
            let left = until.map_or(Duration::MAX, |until| {
                until.saturating_duration_since(Instant::now())
            });
            if state.is_closed || left.is_zero() {
                return None;
            }
            let waited = notifier.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The current version, unless it was already returned.
    fn take(&mut self) -> Option<Arc<Version<T>>> {
        let current = self.current.load_full();
        let is_new = current.number != self.last;
        self.last = current.number;
        is_new.then_some(current)
    }
}

impl<T> Clone for Versions<T> {
    fn clone(&self) -> Self {
        Versions {
            current: Arc::clone(&self.current),
            notifier: Arc::clone(&self.notifier),
            last: self.last,
        }
    }
}

impl<T> fmt::Debug for Versions<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Versions")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

/// Wakes the tasks and threads that wait for versions.
#[derive(Debug, Default)]
pub(crate) struct ChangeNotifier {
    state: Mutex<NotifierState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct NotifierState {
    wakers: Vec<Waker>,
    is_closed: bool,
}

impl ChangeNotifier {
    /// Announces a new version.
    pub(crate) fn notify(&self) {
        self.change(|_| ());
    }

    /// Announces that there will be no more versions.
    fn close(&self) {
        self.change(|state| state.is_closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut NotifierState)) {
        let mut state = self.lock();
        change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The state is consistent even after a panic: each change sets one flag.
    fn lock(&self) -> MutexGuard<'_, NotifierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the notifier when the worker thread ends, also by a panic.
#[derive(Debug)]
pub(crate) struct CloseOnDrop(pub(crate) Arc<ChangeNotifier>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
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
    fn tasks_are_woken_once_and_see_the_last_version() {
        let current = Arc::new(ArcSwap::from_pointee(version(1)));
        let notifier = Arc::new(ChangeNotifier::default());
        let mut versions = Versions::new(current.clone(), notifier.clone());
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let mut context = Context::from_waker(&waker);
        for _ in 0..3 {
            assert!(versions.poll_next(&mut context).is_pending());
        }
        for number in [2, 3] {
            current.store(Arc::new(version(number)));
            notifier.notify();
        }
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        let Poll::Ready(Some(seen)) = versions.poll_next(&mut context) else {
            panic!("there is one");
        };
        assert_eq!(seen.value, 3);
        assert!(versions.poll_next(&mut context).is_pending());
        drop(CloseOnDrop(notifier));
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        assert!(matches!(versions.poll_next(&mut context), Poll::Ready(None)));
    }

    #[test]
    fn threads_wait_with_a_timeout() {
        let current = Arc::new(ArcSwap::from_pointee(version(1)));
        let notifier = Arc::new(ChangeNotifier::default());
        let mut versions = Versions::new(current.clone(), notifier.clone());
        assert!(versions.wait(Duration::from_millis(1)).is_none());
        let mut other = versions.clone();
        let waiting = thread::spawn(move || other.wait(Duration::MAX).map(|seen| seen.value));
        current.store(Arc::new(version(2)));
        notifier.notify();
        assert_eq!(waiting.join().unwrap(), Some(2));
        drop(CloseOnDrop(notifier));
        assert_eq!(versions.wait(Duration::MAX).map(|seen| seen.value), Some(2));
        assert!(versions.wait(Duration::MAX).is_none());
    }
}
