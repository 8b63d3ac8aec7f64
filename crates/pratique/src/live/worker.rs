//! The thread that compiles what changed and puts it in the place of what was, aside from all requests.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Has some work done again whenever something changed. Changes that come while it is being done are done together.
#[derive(Debug)]
pub(super) struct Worker {
    bell: Arc<Bell>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What wakes the thread.
#[derive(Debug, Default)]
pub(super) struct Bell {
    state: Mutex<State>,
    rung: Condvar,
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How often it was rung.
    rings: u64,
    /// How many of these are done with.
    answered: u64,
    stopped: bool,
}

/// What the thread does next.
enum Next {
    Rung(u64),
    Idle,
    Stopped,
}

/// How long to wait before tidying again.
const PAUSE: Duration = Duration::from_millis(20);

impl Worker {
    /// Begins, with `work` being done on a thread of its own. After it `tidy` is done, and again from time to time while
    /// it says that something is left.
    pub(super) fn start(
        bell: Arc<Bell>,
        work: impl Fn() + Send + 'static,
        tidy: impl Fn() -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let waiting = bell.clone();
        let thread = thread::Builder::new()
            .name("pratique-live".to_owned())
            .spawn(move || {
                #[cfg(feature = "watch")]
                pratique_watch::lower_priority();
                waiting.answer(&work, &tidy);
            })?;
        Ok(Worker {
            bell,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Whether the thread ended although it was not told to, which only a panic does.
    pub(super) fn has_ended(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Ends the thread, and waits for that: what it does now is done first.
    pub(super) fn stop(&self) {
        self.bell.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = thread.filter(|thread| thread.thread().id() != thread::current().id());
        if let Some(thread) = thread {
            // It ends by a panic only if a bug does; then there is nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Bell {
    /// Something changed.
    pub(super) fn ring(&self) {
        self.lock().rings += 1;
        self.rung.notify_one();
    }

    /// Waits until all that changed before is in effect, or nothing will be any more.
    pub(super) fn settled(&self) {
        let state = self.lock();
        let rings = state.rings;
        let waiting = |state: &mut State| !state.stopped && state.answered < rings;
        drop(self.done.wait_while(state, waiting));
    }

    fn answer(&self, work: &impl Fn(), tidy: &impl Fn() -> bool) {
        // Whoever waits is told, even if the work panics.
        struct Stop<'b>(&'b Bell);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.stop();
            }
        }
        let _stop = Stop(self);
        let mut is_untidy = false;
        loop {
            match self.next(is_untidy) {
                Next::Stopped => return,
                Next::Idle => {}
                Next::Rung(rings) => {
                    work();
                    self.lock().answered = rings;
                    self.done.notify_all();
                }
            }
            is_untidy = tidy();
        }
    }

    /// Waits for the next ring, or only for a while.
    fn next(&self, is_untidy: bool) -> Next {
        let idle = |state: &mut State| !state.stopped && state.answered == state.rings;
        let state = match is_untidy {
            true => {
                let waited = self.rung.wait_timeout_while(self.lock(), PAUSE, idle);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            false => {
                let waited = self.rung.wait_while(self.lock(), idle);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
        };
        match &*state {
            State { stopped: true, .. } => Next::Stopped,
            State { rings, answered, .. } if rings == answered => Next::Idle,
            State { rings, .. } => Next::Rung(*rings),
        }
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.rung.notify_all();
        self.done.notify_all();
    }

    /// Numbers are whole whatever happened to a thread that held them.
    fn lock(&self) -> MutexGuard<'_, State> {
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
        let bell = Arc::new(Bell::default());
        let work = move || {
            counted.fetch_add(1, Ordering::SeqCst);
        };
        let worker = Worker::start(bell.clone(), work, || false).unwrap();
        bell.settled();
        assert_eq!(count.load(Ordering::SeqCst), 0);
        for _ in 0..100 {
            bell.ring();
        }
        bell.settled();
        let done = count.load(Ordering::SeqCst);
        assert!((1..=100).contains(&done));
        worker.stop();
        bell.ring();
        bell.settled();
        assert_eq!(count.load(Ordering::SeqCst), done);
    }

    #[test]
    fn it_tidies_until_nothing_is_left() {
        let left = Arc::new(AtomicUsize::new(3));
        let remaining = left.clone();
        let tidy = move || remaining.fetch_sub(1, Ordering::SeqCst) > 1;
        let bell = Arc::new(Bell::default());
        let worker = Worker::start(bell.clone(), || (), tidy).unwrap();
        bell.ring();
        bell.settled();
        while left.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        thread::sleep(3 * PAUSE);
        assert_eq!(left.load(Ordering::SeqCst), 0);
        worker.stop();
    }
}
