//! Turns: how many requests are evaluated at a time, and which one is next.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// So many turns. Where all are taken, connections get those that are given back one after the other, so that a client
/// with hundreds of requests does not keep others waiting.
#[derive(Debug)]
pub(crate) struct Turns(Mutex<State>);

#[derive(Debug)]
struct State {
    free: usize,
    /// Who waits, by the numbers of connections; none of the queues is empty.
    waiting: BTreeMap<u64, VecDeque<oneshot::Sender<Turn>>>,
    /// The connection that got a turn last.
    last: u64,
}

/// A turn, given back when dropped. Without turns it was given back already.
#[derive(Debug)]
pub(crate) struct Turn(Option<Arc<Turns>>);

impl Turns {
    pub(crate) fn new(count: usize) -> Self {
        Turns(Mutex::new(State {
            free: count,
            waiting: BTreeMap::new(),
            last: 0,
        }))
    }

    /// Waits for a turn for a request of a connection.
    pub(crate) async fn take(self: &Arc<Self>, connection: u64) -> Turn {
        let turn = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Turn(Some(self.clone()));
            }
            let (sender, turn) = oneshot::channel();
            let queue = state.waiting.entry(connection).or_default();
            // Those who gave up waiting began to do so before all others.
            while queue.front().is_some_and(oneshot::Sender::is_closed) {
                queue.pop_front();
            }
            queue.push_back(sender);
            turn
        };
        // Senders are dropped only by what closed its end before.
        turn.await.unwrap_or(Turn(None))
    }

    fn give_back(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.lock();
                let Some(next) = state.next() else {
                    state.free += 1;
                    return;
                };
                next
            };
            match next.send(Turn(Some(self.clone()))) {
                Ok(()) => return,
                // It is given to another one.
                Err(mut turn) => turn.0 = None,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Who is next: of the connection after the one that was last.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
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

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = self.0.take() {
            turns.give_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;

    /// A request that waits for its turn, says which one it is, and gives the turn back.
    async fn request(
        turns: &Arc<Turns>,
        order: &Arc<Mutex<Vec<&'static str>>>,
        (connection, name): (u64, &'static str),
    ) -> JoinHandle<()> {
        let (turns, order) = (turns.clone(), order.clone());
        let waiting = tokio::spawn(async move {
            let turn = turns.take(connection).await;
            order.lock().unwrap().push(name);
            drop(turn);
        });
        // It begins to wait.
        tokio::task::yield_now().await;
        waiting
    }

    #[tokio::test]
    async fn connections_take_turns() {
        let turns = Arc::new(Turns::new(1));
        let order = Arc::default();
        let first = turns.take(1).await;
        let mut waiting = Vec::new();
        for one in [(1, "1a"), (1, "1b"), (1, "1c"), (7, "7a"), (7, "7b"), (3, "3a")] {
            waiting.push(request(&turns, &order, one).await);
        }
        drop(first);
        for one in waiting {
            one.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["1a", "3a", "7a", "1b", "7b", "1c"]);
        assert_eq!(turns.lock().free, 1);
    }

    #[tokio::test]
    async fn who_gave_up_loses_no_turn() {
        let turns = Arc::new(Turns::new(2));
        let taken = [turns.take(1).await, turns.take(1).await];
        for connection in [1, 2, 2, 3] {
            let waited = timeout(Duration::from_millis(5), turns.take(connection)).await;
            assert!(waited.is_err());
        }
        // One gets its turn and is gone before it can tell.
        let gone = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take(4).await }
        });
        tokio::task::yield_now().await;
        let [first, second] = taken;
        drop(first);
        gone.abort();
        drop((gone.await, second));
        assert_eq!(turns.lock().free, 2);
        assert!(turns.lock().waiting.is_empty());
    }
}
