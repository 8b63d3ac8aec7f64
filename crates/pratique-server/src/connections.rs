//! All connections: how many there are, and which of them makes room when there are too many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// All connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limit: usize,
    all: Mutex<All>,
    empty: Notify,
}

#[derive(Debug, Default)]
struct All {
    next: u64,
    slots: BTreeMap<u64, Arc<Slot>>,
}

/// One connection.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// How many of its requests are being judged.
    busy: AtomicUsize,
    /// Whether any request of it was judged.
    known: AtomicBool,
    leave: Notify,
}

/// A place among the connections, given up when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) slot: Arc<Slot>,
}

/// A request is being judged, until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Slot>);

impl Connections {
    pub(crate) fn new(limit: usize) -> Self {
        Connections {
            limit,
            all: Mutex::default(),
            empty: Notify::new(),
        }
    }

    /// A place for a new connection; if there are too many, that of an idle one: of one that never had a request judged
    /// if there is one, else of the oldest. `None` if all are busy.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut all = self.lock();
        if all.slots.len() >= self.limit {
            let idle = |own: &(&u64, &Arc<Slot>)| own.1.busy.load(Ordering::Relaxed) == 0;
            let strangers_first = |own: &(&u64, &Arc<Slot>)| own.1.known.load(Ordering::Relaxed);
            let number = *all.slots.iter().filter(idle).min_by_key(strangers_first)?.0;
            if let Some(slot) = all.slots.remove(&number) {
                slot.leave.notify_one();
            }
        }
        let number = all.next;
        all.next += 1;
        let slot = Arc::new(Slot::default());
        all.slots.insert(number, slot.clone());
        Some(Place {
            connections: self.clone(),
            number,
            slot,
        })
    }

    /// Waits until there are none.
    pub(crate) async fn gone(&self) {
        loop {
            let empty = self.empty.notified();
            if self.lock().slots.is_empty() {
                return;
            }
            empty.await;
        }
    }

    /// All are to go at once.
    pub(crate) fn dismiss(&self) {
        self.lock()
            .slots
            .values()
            .for_each(|slot| slot.leave.notify_one());
    }

    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// A request is being judged from now on.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.known.store(true, Ordering::Relaxed);
        Busy(self.clone())
    }

    /// Waits until the connection is to make room.
    pub(crate) async fn left(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.connections.lock();
        all.slots.remove(&self.number);
        if all.slots.is_empty() {
            drop(all);
            self.connections.empty.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_make_room() {
        let connections = Arc::new(Connections::new(3));
        let enter = || connections.enter().unwrap();
        let numbers = || connections.lock().slots.keys().copied().collect::<Vec<_>>();
        let [first, second, third] = [enter(), enter(), enter()];
        let busy = first.slot.busy();
        drop(second.slot.busy());
        let fourth = enter();
        assert_eq!(numbers(), [0, 1, 3], "the third was never judged");
        let busy_too = fourth.slot.busy();
        let fifth = enter();
        assert_eq!(numbers(), [0, 3, 4], "the second is idle");
        let busy_three = fifth.slot.busy();
        assert!(connections.enter().is_none());
        drop((busy, busy_too, busy_three, third, second));
        assert_eq!(numbers(), [0, 3, 4]);
        drop((first, fourth, fifth));
        assert!(numbers().is_empty());
    }
}
