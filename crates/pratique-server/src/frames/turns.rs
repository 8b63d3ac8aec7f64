//! Turns of the work for connections that have shown nothing yet: one at a time of an address, and one at a time of all.
//!
//! A handshake and the frames of a connection that asks for nothing take as much time as a review. A client that opens one
//! connection after the other would have all threads do that, and reviews wait behind it. So a connection that had no review
//! evaluated, or lives on its [allowance](super::allowance), is only served while it has its turn; and while others wait for
//! theirs, turns come so that all of them together take a part of one processor.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use super::work_time::WorkTime;

/// How much longer than the turns the pauses between them are, while others wait.
const PAUSE_SHARE: u32 = 3;
/// Shorter pauses are put together: timers are no finer.
const MIN_PAUSE: Duration = Duration::from_millis(1);

/// The turn of all connections without evaluated reviews.
#[derive(Clone, Debug)]
pub(crate) struct SharedTurn(Arc<TurnState>);

#[derive(Debug)]
struct TurnState {
    turn: Arc<Semaphore>,
    /// How many connections wait.
    waiting: AtomicUsize,
    /// The pauses that are due.
    due: Mutex<Duration>,
}

/// The turns of an address: one of its connections waits for the [`SharedTurn`] at a time, so that addresses have equal
/// parts.
#[derive(Clone, Debug)]
pub(crate) struct AddressTurns {
    own: Arc<Semaphore>,
    shared: SharedTurn,
}

/// The turn of a connection, until it is dropped.
struct TurnPermit {
    _own: Option<OwnedSemaphorePermit>,
    _shared: Option<OwnedSemaphorePermit>,
}

/// Counts a connection as waiting, until it is dropped.
struct WaitingGuard(SharedTurn);

impl Default for SharedTurn {
    fn default() -> Self {
        SharedTurn(Arc::new(TurnState {
            turn: Arc::new(Semaphore::new(1)),
            waiting: AtomicUsize::new(0),
            due: Mutex::new(Duration::ZERO),
        }))
    }
}

impl AddressTurns {
    pub(super) fn new(shared: SharedTurn) -> Self {
        AddressTurns {
            own: Arc::new(Semaphore::new(1)),
            shared,
        }
    }

    /// Waits for the turn.
    async fn take(self) -> TurnPermit {
        let waiting = WaitingGuard::new(&self.shared);
        // Neither semaphore is ever closed.
        let own = self.own.acquire_owned().await.ok();
        let shared = self.shared.0.turn.clone().acquire_owned().await.ok();
        drop(waiting);
        TurnPermit {
            _own: own,
            _shared: shared,
        }
    }

    /// Ends a turn in which this was worked.
    fn end(&self, turn: TurnPermit, work: &WorkTime) {
        let pause = self.shared.pause_after(|| work.elapsed());
        if pause.is_zero() {
            return;
        }
        tokio::spawn(async move {
            sleep(pause).await;
            drop(turn);
        });
    }
}

impl SharedTurn {
    /// The pause before the next turn, after one in which so much was worked. That is only asked where others wait: it takes a
    /// system call.
    fn pause_after(&self, worked: impl FnOnce() -> Duration) -> Duration {
        let mut due = self.0.due.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.waiting.load(Ordering::Relaxed) == 0 {
            *due = Duration::ZERO;
            return Duration::ZERO;
        }
        *due += worked() * PAUSE_SHARE;
        if *due < MIN_PAUSE {
            return Duration::ZERO;
        }
        std::mem::take(&mut *due)
    }
}

impl WaitingGuard {
    fn new(shared: &SharedTurn) -> Self {
        shared.0.waiting.fetch_add(1, Ordering::Relaxed);
        WaitingGuard(shared.clone())
    }
}

impl Drop for WaitingGuard {
    fn drop(&mut self) {
        self.0.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A future that makes progress only in its turns, as long as it needs such.
pub(crate) struct InTurn<F, N> {
    future: Pin<Box<F>>,
    needs_turn: N,
    turns: AddressTurns,
    taking: Option<Pin<Box<dyn Future<Output = TurnPermit> + Send>>>,
}

impl<F: Future, N: Fn() -> bool> InTurn<F, N> {
    pub(crate) fn new(future: F, turns: &AddressTurns, needs_turn: N) -> Self {
        InTurn {
            future: Box::pin(future),
            needs_turn,
            turns: turns.clone(),
            taking: None,
        }
    }

    /// The future.
    pub(crate) fn inner(self: Pin<&mut Self>) -> Pin<&mut F>
    where
        N: Unpin,
    {
        self.get_mut().future.as_mut()
    }
}

impl<F: Future, N: Fn() -> bool + Unpin> Future for InTurn<F, N> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        if !(this.needs_turn)() {
            this.taking = None;
            return this.future.as_mut().poll(context);
        }
        let taking = this
            .taking
            .get_or_insert_with(|| Box::pin(this.turns.clone().take()));
        let turn = ready!(taking.as_mut().poll(context));
        this.taking = None;
        let work = WorkTime::start();
        let polled = this.future.as_mut().poll(context);
        this.turns.end(turn, &work);
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::yield_now;

    use super::*;

    /// A future that counts how many of its kind make progress, and how many at most.
    async fn work(running: Arc<AtomicUsize>, most: Arc<AtomicUsize>) {
        for _ in 0..3 {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
            running.fetch_sub(1, Ordering::SeqCst);
            yield_now().await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn one_at_a_time_makes_progress() {
        let check = async |needs_turn: bool| {
            let shared = SharedTurn::default();
            let (running, most) = (Arc::default(), Arc::default());
            let tasks = (0..12).map(|_| {
                let turns = AddressTurns::new(shared.clone());
                let work = work(Arc::clone(&running), Arc::clone(&most));
                tokio::spawn(InTurn::new(work, &turns, move || needs_turn))
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            most.load(Ordering::SeqCst)
        };
        assert_eq!(check(true).await, 1);
        assert!(check(false).await > 1);
    }

    #[tokio::test]
    async fn pauses_are_for_those_who_wait() {
        let shared = SharedTurn::default();
        let [short, long] = [100, 1000].map(Duration::from_micros);
        assert_eq!(shared.pause_after(|| long), Duration::ZERO);
        let waiting = WaitingGuard::new(&shared);
        assert_eq!(shared.pause_after(|| long), PAUSE_SHARE * long);
        let pauses: Vec<Duration> = (0..4).map(|_| shared.pause_after(|| short)).collect();
        let zero = Duration::ZERO;
        assert_eq!(pauses, [zero, zero, zero, 4 * PAUSE_SHARE * short]);
        drop(waiting);
        let mut is_asked = false;
        let pause = shared.pause_after(|| {
            is_asked = true;
            long
        });
        assert_eq!((pause, is_asked), (Duration::ZERO, false));
    }

    /// A connection that ends while it waits leaves the turns to others.
    #[tokio::test]
    async fn turns_that_are_given_up_go_on() {
        let turns = AddressTurns::new(SharedTurn::default());
        let first = turns.clone().take().await;
        let mut waits = InTurn::new(async {}, &turns, || true);
        let polled = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut waits).poll(context))).await;
        assert!(polled.is_pending());
        assert_eq!(turns.shared.0.waiting.load(Ordering::Relaxed), 1);
        drop(waits);
        drop(first);
        InTurn::new(async {}, &turns, || true).await;
        assert_eq!(turns.shared.0.waiting.load(Ordering::Relaxed), 0);
    }
}
