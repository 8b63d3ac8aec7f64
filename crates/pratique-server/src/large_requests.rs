//! Large requests, of which two do not fit into the memory budget: one at a time, in order of arrival.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The maximum number of waiting requests, which keep their bodies and evaluation permits.
const WAITING: usize = 8;

/// The queue of large requests.
#[derive(Debug)]
pub(crate) struct LargeRequests {
    /// One permit for the current request, and one for each waiting one.
    queue: Arc<Semaphore>,
    current: Arc<Semaphore>,
}

/// The permit of the current large request, until it is dropped.
#[derive(Debug)]
pub(crate) struct ExclusivePermit(
    #[allow(dead_code, reason = "released when dropped")] [OwnedSemaphorePermit; 2],
);

impl LargeRequests {
    pub(crate) fn new() -> Self {
        LargeRequests {
            queue: Arc::new(Semaphore::new(1 + WAITING)),
            current: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits for the permit; `None` after the timeout, or if too many requests wait.
    pub(crate) async fn acquire(&self, time: Duration) -> Option<ExclusivePermit> {
        let queue = self.queue.clone().try_acquire_owned().ok()?;
        let current = timeout(time, self.current.clone().acquire_owned()).await;
        Some(ExclusivePermit([queue, current.ok()?.ok()?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_request_runs_and_few_wait() {
        let requests = Arc::new(LargeRequests::new());
        let long = Duration::from_secs(60);
        let first = requests.acquire(long).await.unwrap();
        assert!(requests.acquire(Duration::from_millis(5)).await.is_none());
        let waiting: Vec<_> = (0..WAITING)
            .map(|_| {
                let requests = requests.clone();
                tokio::spawn(async move { requests.acquire(long).await.is_some() })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(requests.acquire(long).await.is_none(), "too many wait");
        drop(first);
        for one in waiting {
            assert!(one.await.unwrap());
        }
        assert!(requests.acquire(long).await.is_some());
    }
}
