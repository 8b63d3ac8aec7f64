//! Requests that take so much memory that two of them do not fit into the budget: one at a time, the first one first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How many wait: they hold their bodies meanwhile, and their turns.
const WAITING: usize = 8;

/// The queue of such requests.
#[derive(Debug)]
pub(crate) struct Largest {
    /// For the one that goes on, and for those that wait.
    places: Arc<Semaphore>,
    one: Arc<Semaphore>,
}

/// Whoever has this goes on alone, until it is dropped.
#[derive(Debug)]
pub(crate) struct Alone(#[allow(dead_code, reason = "they are given back")] [OwnedSemaphorePermit; 2]);

impl Largest {
    pub(crate) fn new() -> Self {
        Largest {
            places: Arc::new(Semaphore::new(1 + WAITING)),
            one: Arc::new(Semaphore::new(1)),
        }
    }

    /// Waits until there is no other one, but no longer than this, nor behind too many.
    pub(crate) async fn enter(&self, time: Duration) -> Option<Alone> {
        let place = self.places.clone().try_acquire_owned().ok()?;
        let one = timeout(time, self.one.clone().acquire_owned()).await;
        Some(Alone([place, one.ok()?.ok()?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_goes_on_and_few_wait() {
        let largest = Arc::new(Largest::new());
        let long = Duration::from_secs(60);
        let first = largest.enter(long).await.unwrap();
        assert!(largest.enter(Duration::from_millis(5)).await.is_none());
        let waiting: Vec<_> = (0..WAITING)
            .map(|_| {
                let largest = largest.clone();
                tokio::spawn(async move { largest.enter(long).await.is_some() })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(largest.enter(long).await.is_none(), "too many wait");
        drop(first);
        for one in waiting {
            assert!(one.await.unwrap());
        }
        assert!(largest.enter(long).await.is_some());
    }
}
