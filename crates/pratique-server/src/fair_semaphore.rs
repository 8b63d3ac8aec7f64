//! A semaphore for evaluations that is fair between connections.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A semaphore whose released permits go to the waiting connections in permit, so that a client with hundreds of requests
/// does not block others.
#[derive(Debug)]
pub(crate) struct FairSemaphore(Mutex<SemaphoreState>);

#[derive(Debug)]
struct SemaphoreState {
    free: usize,
    /// The waiting requests by connection number; no queue is empty.
    waiting: BTreeMap<u64, VecDeque<oneshot::Sender<FairPermit>>>,
    /// The connection that got the last permit.
    last: u64,
}

/// A permit, released when dropped. `None` if it was released already.
#[derive(Debug)]
pub(crate) struct FairPermit(Option<Arc<FairSemaphore>>);

impl FairSemaphore {
    pub(crate) fn new(count: usize) -> Self {
        FairSemaphore(Mutex::new(SemaphoreState {
            free: count,
            waiting: BTreeMap::new(),
            last: 0,
        }))
    }

    /// Waits for a permit for a request of a connection.
    pub(crate) async fn acquire(self: &Arc<Self>, connection: u64) -> FairPermit {
        let permit = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return FairPermit(Some(self.clone()));
            }
            let (sender, permit) = oneshot::channel();
            let queue = state.waiting.entry(connection).or_default();
            // Requests that gave up are at the front, as all have the same timeout.
            while queue.front().is_some_and(oneshot::Sender::is_closed) {
                queue.pop_front();
            }
            queue.push_back(sender);
            permit
        };
        // A sender is dropped only if its receiver is closed.
        permit.await.unwrap_or(FairPermit(None))
    }

    fn release(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.lock();
                let Some(next) = state.next() else {
                    state.free += 1;
                    return;
                };
                next
            };
            match next.send(FairPermit(Some(self.clone()))) {
                Ok(()) => return,
                // The receiver is gone: the permit goes to the next request.
                Err(mut permit) => permit.0 = None,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, SemaphoreState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SemaphoreState {
    /// The next request, of the connection after the last one.
    fn next(&mut self) -> Option<oneshot::Sender<FairPermit>> {
        let after = (Bound::Excluded(self.last), Bound::Unbounded);
        let mut following = self.waiting.range(after).chain(self.waiting.iter());
        let number = *following.next()?.0;
        self.last = number;
        let queue = self.waiting.get_mut(&number)?;
        let next = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&number);
        }
        next
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        if let Some(semaphore) = self.0.take() {
            semaphore.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;

    /// A request that waits for a permit, records its name, and releases the permit.
    async fn request(
        semaphore: &Arc<FairSemaphore>,
        order: &Arc<Mutex<Vec<&'static str>>>,
        (connection, name): (u64, &'static str),
    ) -> JoinHandle<()> {
        let (semaphore, order) = (semaphore.clone(), order.clone());
        let waiting = tokio::spawn(async move {
            let permit = semaphore.acquire(connection).await;
            order.lock().unwrap().push(name);
            drop(permit);
        });
        // Let it start waiting.
        tokio::task::yield_now().await;
        waiting
    }

    #[tokio::test]
    async fn permits_rotate_between_connections() {
        let semaphore = Arc::new(FairSemaphore::new(1));
        let order = Arc::default();
        let first = semaphore.acquire(1).await;
        let mut waiting = Vec::new();
        for one in [(1, "1a"), (1, "1b"), (1, "1c"), (7, "7a"), (7, "7b"), (3, "3a")] {
            waiting.push(request(&semaphore, &order, one).await);
        }
        drop(first);
        for one in waiting {
            one.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["1a", "3a", "7a", "1b", "7b", "1c"]);
        assert_eq!(semaphore.lock().free, 1);
    }

    #[tokio::test]
    async fn permits_of_cancelled_requests_are_not_lost() {
        let semaphore = Arc::new(FairSemaphore::new(2));
        let taken = [semaphore.acquire(1).await, semaphore.acquire(1).await];
        for connection in [1, 2, 2, 3] {
            let waited = timeout(Duration::from_millis(5), semaphore.acquire(connection)).await;
            assert!(waited.is_err());
        }
        // One gets its permit after it was aborted.
        let gone = tokio::spawn({
            let semaphore = semaphore.clone();
            async move { semaphore.acquire(4).await }
        });
        tokio::task::yield_now().await;
        let [first, second] = taken;
        drop(first);
        gone.abort();
        drop((gone.await, second));
        assert_eq!(semaphore.lock().free, 2);
        assert!(semaphore.lock().waiting.is_empty());
    }
}
