//! The thread that compiles changes, aside from all requests.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Repeats some work whenever something changed. Changes that arrive during the work are handled together.
#[derive(Debug)]
pub(super) struct ChangeWorker {
    notifier: Arc<ChangeNotifier>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Notifies the thread of changes.
#[derive(Debug, Default)]
pub(super) struct ChangeNotifier {
    state: Mutex<WorkerState>,
    changed: Condvar,
    done: Condvar,
}

#[derive(Debug, Default)]
struct WorkerState {
    /// The number of notifications.
    notified: u64,
    /// How many changes were handled.
    handled: u64,
    stopped: bool,
}

/// The next task of the thread.
enum NextTask {
    Changed(u64),
    Idle,
    Stopped,
}

/// How long to wait before tidying again.
const PAUSE: Duration = Duration::from_millis(20);

impl ChangeWorker {
    /// Starts the thread. It runs `work` after each change, then `tidy`, and `tidy` again from time to time while that returns
    /// true because something is left.
    pub(super) fn start(
        notifier: Arc<ChangeNotifier>,
        work: impl Fn() + Send + 'static,
        tidy: impl Fn() -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let waiting = notifier.clone();
        let thread = thread::Builder::new()
            .name("pratique-live".to_owned())
            .spawn(move || {
                #[cfg(feature = "watch")]
                pratique_watch::lower_priority();
                waiting.handle(&work, &tidy);
            })?;
        Ok(ChangeWorker {
            notifier,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Whether the thread ended without being stopped, which only a panic does.
    pub(super) fn has_ended(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Stops the thread after its current work, and waits for it.
    pub(super) fn stop(&self) {
        self.notifier.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = thread.filter(|thread| thread.thread().id() != thread::current().id());
        if let Some(thread) = thread {
            // The thread panics only by a bug; then there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl ChangeNotifier {
    /// Reports a change.
    pub(super) fn notify(&self) {
        self.lock().notified += 1;
        self.changed.notify_one();
    }

    /// Waits until all changes so far are handled, or the thread has stopped.
    pub(super) fn wait_until_settled(&self) {
        let state = self.lock();
        let notified = state.notified;
        let waiting = |state: &mut WorkerState| !state.stopped && state.handled < notified;
        drop(self.done.wait_while(state, waiting));
    }

    fn handle(&self, work: &impl Fn(), tidy: &impl Fn() -> bool) {
        // Waiting threads are woken even if the work panics.
        struct StopSignal<'n>(&'n ChangeNotifier);
        impl Drop for StopSignal<'_> {
            fn drop(&mut self) {
                self.0.stop();
            }
        }
        let _stop = StopSignal(self);
        let mut is_untidy = false;
        loop {
            match self.next(is_untidy) {
                NextTask::Stopped => return,
                NextTask::Idle => {}
                NextTask::Changed(notified) => {
                    work();
                    self.lock().handled = notified;
                    self.done.notify_all();
                }
            }
            is_untidy = tidy();
        }
    }

    /// Waits for the next change, or only for a while if something is to be tidied.
    fn next(&self, is_untidy: bool) -> NextTask {
        let idle = |state: &mut WorkerState| !state.stopped && state.handled == state.notified;
        let state = if is_untidy {
            let waited = self.changed.wait_timeout_while(self.lock(), PAUSE, idle);
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            let waited = self.changed.wait_while(self.lock(), idle);
            waited.unwrap_or_else(PoisonError::into_inner)
        };
        match &*state {
            WorkerState { stopped: true, .. } => NextTask::Stopped,
            WorkerState {
                notified, handled, ..
            } if notified == handled => NextTask::Idle,
            WorkerState { notified, .. } => NextTask::Changed(*notified),
        }
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
        self.done.notify_all();
    }

    /// The numbers are consistent even after a panic.
    fn lock(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn changes_are_done_together() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let notifier = Arc::new(ChangeNotifier::default());
        let work = move || {
            counted.fetch_add(1, Ordering::SeqCst);
        };
        let worker = ChangeWorker::start(notifier.clone(), work, || false).unwrap();
        notifier.wait_until_settled();
        assert_eq!(count.load(Ordering::SeqCst), 0);
        for _ in 0..100 {
            notifier.notify();
        }
        notifier.wait_until_settled();
        let done = count.load(Ordering::SeqCst);
        assert!((1..=100).contains(&done));
        worker.stop();
        notifier.notify();
        notifier.wait_until_settled();
        assert_eq!(count.load(Ordering::SeqCst), done);
    }

    #[test]
    fn it_tidies_until_nothing_is_left() {
        let left = Arc::new(AtomicUsize::new(3));
        let remaining = left.clone();
        let tidy = move || remaining.fetch_sub(1, Ordering::SeqCst) > 1;
        let notifier = Arc::new(ChangeNotifier::default());
        let worker = ChangeWorker::start(notifier.clone(), || (), tidy).unwrap();
        notifier.notify();
        notifier.wait_until_settled();
        while left.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        thread::sleep(3 * PAUSE);
        assert_eq!(left.load(Ordering::SeqCst), 0);
        worker.stop();
    }
}
