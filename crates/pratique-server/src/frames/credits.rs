//! What a connection has earned by requests, which pays for its frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::connections::TrackedConnection;

/// What a new connection has: its settings, theirs acknowledged, a window, the first requests.
const INITIAL: usize = 64;
/// The most that a connection keeps.
const MAX: usize = 10_000;
/// What an answer earns: the frames of its request and of the client while it reads a small answer.
const ANSWER: usize = 8;
/// For each of so many bytes of an answer, its client may enlarge a window. Go's does so for each 4 KiB, of the stream and of
/// the connection.
// Upstream: golang.org/x/net/http2, flow.go, inflowMinRefresh
const WINDOW_BYTES: usize = 2048;

/// What a connection has earned, and the requests that it has open.
#[derive(Debug)]
pub(crate) struct FrameCredits {
    earned: AtomicUsize,
    open: AtomicUsize,
    /// Whether its last frames were not paid for.
    is_on_allowance: AtomicBool,
}

/// Counts a request as open, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenRequest(Arc<TrackedConnection>);

impl Default for FrameCredits {
    fn default() -> Self {
        FrameCredits {
            earned: AtomicUsize::new(INITIAL),
            open: AtomicUsize::new(0),
            is_on_allowance: AtomicBool::new(false),
        }
    }
}

impl FrameCredits {
    /// How many requests are open.
    pub(crate) fn open_requests(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Records an answer with a body of so many bytes.
    pub(crate) fn answered(&self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.earn(ANSWER + bytes / WINDOW_BYTES);
    }

    /// Whether the connection lives on its allowance: its last frames were not paid for.
    pub(crate) fn is_on_allowance(&self) -> bool {
        self.is_on_allowance.load(Ordering::Relaxed)
    }

    fn earn(&self, credit: usize) {
        let add = |earned: usize| Some(earned.saturating_add(credit).min(MAX));
        // The function always gives a value.
        let _ = self
            .earned
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Pays from what was earned; returns what is left to pay.
    pub(super) fn pay(&self, cost: usize) -> usize {
        let pay = |earned: usize| Some(earned.saturating_sub(cost));
        let earned = self
            .earned
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay);
        let owed = cost.saturating_sub(earned.unwrap_or_default());
        self.is_on_allowance.store(owed > 0, Ordering::Relaxed);
        owed
    }
}

impl OpenRequest {
    /// Counts a request, whose frame of headers is worth its cost.
    pub(crate) fn new(connection: &Arc<TrackedConnection>) -> Self {
        connection.frames.open.fetch_add(1, Ordering::Relaxed);
        connection.frames.earn(1);
        OpenRequest(connection.clone())
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.frames.open.fetch_sub(1, Ordering::Relaxed);
        // A request that was no review has not taken it.
        self.0.backlog.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_pay_for_frames() {
        let connection = Arc::new(TrackedConnection::unregistered(0));
        let credits = &connection.frames;
        assert_eq!((credits.pay(INITIAL), credits.pay(3)), (0, 3));
        let open = OpenRequest::new(&connection);
        assert_eq!((credits.open_requests(), credits.pay(3)), (1, 2));
        credits.answered(0);
        drop(open);
        assert_eq!((credits.open_requests(), credits.pay(ANSWER + 1)), (0, 1));
        credits.answered(10 << 20);
        assert_eq!(credits.pay(10_000), 10_000 - (ANSWER + (10 << 20) / WINDOW_BYTES));
        credits.answered(u64::MAX);
        assert_eq!(credits.pay(2 * MAX), MAX);
    }
}
