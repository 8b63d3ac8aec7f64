//! The registry of connections: their limit, and the eviction of idle ones.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::timeout;

use crate::backlog::HeldPlace;
use crate::exchange::ExchangeStage;
use crate::frames::FrameCredits;

/// Closing connections may exceed the limit by one in this many; past that, evicted connections are closed at once.
const CLOSING_SHARE: usize = 8;

/// How long accepting waits for a connection that closes at once.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

/// The registry of connections.
#[derive(Debug)]
pub(crate) struct ConnectionRegistry {
    limit: usize,
    state: Mutex<ConnectionState>,
    empty: Notify,
    closed: Notify,
}

#[derive(Debug, Default)]
struct ConnectionState {
    next: u64,
    open: BTreeMap<u64, Arc<TrackedConnection>>,
    /// The number of evicted connections that have not closed yet.
    closing: usize,
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(crate) struct TrackedConnection {
    /// The number of the connection; older ones have smaller numbers.
    number: u64,
    /// The number of reviews that are being evaluated.
    active: AtomicUsize,
    /// Whether any review was evaluated.
    has_reviewed: AtomicBool,
    close: Notify,
    /// Whether to close without finishing current requests.
    immediate: AtomicBool,
    /// Whether any request has started.
    has_request: AtomicBool,
    first: Notify,
    abort: Notify,
    /// What pays for its frames of HTTP/2.
    pub(crate) frames: FrameCredits,
    /// How far its exchange of HTTP/1 is.
    pub(crate) exchange: ExchangeStage,
    /// The place of its next request.
    pub(crate) backlog: HeldPlace,
}

/// The registration of a connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionGuard {
    connections: Arc<ConnectionRegistry>,
    number: u64,
    pub(crate) connection: Arc<TrackedConnection>,
}

/// Marks a review as being evaluated, until it is dropped.
#[derive(Debug)]
pub(crate) struct ActiveReview(Arc<TrackedConnection>);

impl TrackedConnection {
    /// The stand-in for the connection of a request to an embedded service.
    pub(crate) fn unregistered(number: u64) -> Self {
        TrackedConnection {
            number,
            ..TrackedConnection::default()
        }
    }
}

impl ConnectionRegistry {
    pub(crate) fn new(limit: usize) -> Self {
        ConnectionRegistry {
            limit,
            state: Mutex::default(),
            empty: Notify::new(),
            closed: Notify::new(),
        }
    }

    /// Registers a connection. Past the limit, an idle one is evicted: the oldest without an evaluated review, otherwise
    /// the oldest. `None` if all are busy.
    pub(crate) fn register(self: &Arc<Self>) -> Option<ConnectionGuard> {
        let mut state = self.lock();
        if state.open.len() >= self.limit {
            let immediate = state.closing >= self.max_closing();
            state.evict(immediate).then_some(())?;
        }
        let number = state.next;
        state.next += 1;
        let connection = Arc::new(TrackedConnection {
            number,
            ..TrackedConnection::default()
        });
        state.open.insert(number, connection.clone());
        Some(ConnectionGuard {
            connections: self.clone(),
            number,
            connection,
        })
    }

    /// Waits shortly if too many connections are closing, which have to close at once.
    pub(crate) async fn throttle(&self) {
        let closed = self.closed();
        if self.lock().closing > self.max_closing() {
            // If it takes longer, accepting may fail, which is handled there.
            let _ = timeout(CLOSE_TIMEOUT, closed).await;
        }
    }

    fn max_closing(&self) -> usize {
        self.limit / CLOSING_SHARE
    }

    /// Evicts an idle connection at once, to free its file descriptor. Returns whether there was one.
    pub(crate) fn evict(&self) -> bool {
        self.lock().evict(true)
    }

    /// Waits until a connection has closed.
    pub(crate) fn closed(&self) -> Notified<'_> {
        self.closed.notified()
    }

    /// Waits until all connections have closed.
    pub(crate) async fn all_closed(&self) {
        loop {
            let empty = self.empty.notified();
            if self.lock().open.is_empty() {
                return;
            }
            empty.await;
        }
    }

    /// Closes all connections.
    pub(crate) fn close_all(&self) {
        self.lock()
            .open
            .values()
            .for_each(|connection| connection.close());
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    /// Evicts an idle connection: the oldest without an evaluated review, otherwise the oldest.
    fn evict(&mut self, immediate: bool) -> bool {
        let idle = self.open.iter();
        let idle = idle.filter(|(_, connection)| connection.active.load(Ordering::Relaxed) == 0);
        let victim = idle.min_by_key(|(_, connection)| connection.has_reviewed.load(Ordering::Relaxed));
        let number = victim.map(|(number, _)| *number);
        let Some(connection) = number.and_then(|number| self.open.remove(&number)) else {
            return false;
        };
        self.closing += 1;
        connection.immediate.store(immediate, Ordering::Relaxed);
        connection.close();
        true
    }
}

impl TrackedConnection {
    /// The number of the connection.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Records that a request has started.
    pub(crate) fn request_started(&self) {
        self.exchange.start();
        if !self.has_request.swap(true, Ordering::Relaxed) {
            self.first.notify_one();
        }
    }

    /// Waits until the first request has started.
    pub(crate) async fn first_request(&self) {
        if !self.has_request.load(Ordering::Relaxed) {
            self.first.notified().await;
        }
    }

    /// Whether to close without finishing current requests.
    pub(crate) fn closes_immediately(&self) -> bool {
        self.immediate.load(Ordering::Relaxed)
    }

    /// Marks a review as being evaluated.
    pub(crate) fn start_review(self: &Arc<Self>) -> ActiveReview {
        self.active.fetch_add(1, Ordering::Relaxed);
        self.has_reviewed.store(true, Ordering::Relaxed);
        ActiveReview(self.clone())
    }

    /// Whether the connection is served in turns with others: it had no review evaluated, or sends frames that nothing pays for.
    pub(crate) fn needs_turn(&self) -> bool {
        !self.has_reviewed.load(Ordering::Relaxed) || self.frames.is_on_allowance()
    }

    /// Closes the connection after its current requests.
    pub(crate) fn close(&self) {
        self.close.notify_one();
    }

    /// Closes the connection at once.
    pub(crate) fn abort(&self) {
        self.abort.notify_one();
    }

    /// Waits until the connection has to close at once.
    pub(crate) async fn aborted(&self) {
        self.abort.notified().await;
    }

    /// Waits until the connection has to close.
    pub(crate) async fn close_requested(&self) {
        self.close.notified().await;
    }
}

impl Drop for ActiveReview {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut state = self.connections.lock();
        if state.open.remove(&self.number).is_none() {
            state.closing = state.closing.saturating_sub(1);
        }
        let is_empty = state.open.is_empty();
        drop(state);
        self.connections.closed.notify_waiters();
        if is_empty {
            self.connections.empty.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_connections_are_evicted() {
        let connections = Arc::new(ConnectionRegistry::new(3));
        let register = || connections.register().unwrap();
        let numbers = || connections.lock().open.keys().copied().collect::<Vec<_>>();
        let [first, second, third] = [register(), register(), register()];
        let busy = first.connection.start_review();
        drop(second.connection.start_review());
        let fourth = register();
        assert_eq!(numbers(), [0, 1, 3], "the third had no review");
        let busy_too = fourth.connection.start_review();
        let fifth = register();
        assert_eq!(numbers(), [0, 3, 4], "the second is idle");
        let busy_three = fifth.connection.start_review();
        assert!(connections.register().is_none());
        drop((busy, busy_too, busy_three, third, second));
        assert_eq!(numbers(), [0, 3, 4]);
        drop((first, fourth, fifth));
        assert!(numbers().is_empty());
    }

    #[test]
    fn closing_connections_are_bounded() {
        let connections = Arc::new(ConnectionRegistry::new(CLOSING_SHARE * 2));
        let guards: Vec<ConnectionGuard> = (0..CLOSING_SHARE * 2 + 4)
            .map(|_| connections.register().unwrap())
            .collect();
        let immediate: Vec<bool> = guards
            .iter()
            .map(|guard| guard.connection.closes_immediately())
            .collect();
        let (first, rest) = immediate.split_at(4);
        assert_eq!(first, [false, false, true, true]);
        assert!(!rest.contains(&true));
        assert!(connections.evict());
        assert!(
            guards[4].connection.closes_immediately(),
            "a file descriptor is needed"
        );
        assert_eq!(connections.lock().closing, 5);
        drop(guards);
        assert_eq!(connections.lock().closing, 0);
        assert!(!connections.evict());
    }
}
