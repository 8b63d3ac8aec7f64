//! All connections: how many there are, and which of them makes room when there are too many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::timeout;

/// One connection in so many may be leaving beside those that there may be; past that, those that make room are cut off.
const LEAVING_SHARE: usize = 8;

/// How long newcomers wait for one that was told to hurry.
const HURRY: Duration = Duration::from_millis(100);

/// All connections.
#[derive(Debug)]
pub(crate) struct Connections {
    limit: usize,
    all: Mutex<All>,
    empty: Notify,
    left: Notify,
}

#[derive(Debug, Default)]
struct All {
    next: u64,
    slots: BTreeMap<u64, Arc<Slot>>,
    /// How many were asked to make room and have not left yet.
    leaving: usize,
}

/// One connection.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Of all connections, the older the smaller.
    number: u64,
    /// How many of its requests are being judged.
    busy: AtomicUsize,
    /// Whether any request of it was judged.
    known: AtomicBool,
    leave: Notify,
    /// Whether it is to leave without finishing what it has begun.
    hurried: AtomicBool,
    /// Whether any request of it has begun.
    asked: AtomicBool,
    first: Notify,
    cut: Notify,
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

impl Slot {
    /// What stands for a connection that others serve.
    pub(crate) fn of_others(number: u64) -> Self {
        Slot {
            number,
            ..Slot::default()
        }
    }
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Self {
        Connections {
            limit,
            all: Mutex::default(),
            empty: Notify::new(),
            left: Notify::new(),
        }
    }

    /// A place for a new connection; if there are too many, that of an idle one: of one that never had a request judged
    /// if there is one, else of the oldest. `None` if all are busy.
    pub(crate) fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut all = self.lock();
        if all.slots.len() >= self.limit {
            let hurried = all.leaving >= self.most_leaving();
            all.evict(hurried).then_some(())?;
        }
        let number = all.next;
        all.next += 1;
        let slot = Arc::new(Slot {
            number,
            ..Slot::default()
        });
        all.slots.insert(number, slot.clone());
        Some(Place {
            connections: self.clone(),
            number,
            slot,
        })
    }

    /// Waits a moment if more are leaving than may be there beside the others: they have been told to hurry.
    pub(crate) async fn settle(&self) {
        let left = self.one_left();
        if self.lock().leaving > self.most_leaving() {
            // They may be held up; what the system then does not have, it says.
            let _ = timeout(HURRY, left).await;
        }
    }

    fn most_leaving(&self) -> usize {
        self.limit / LEAVING_SHARE
    }

    /// Has an idle connection make room at once, as the system has no file for another one. Tells whether there was one.
    pub(crate) fn evict(&self) -> bool {
        self.lock().evict(true)
    }

    /// Waits until a connection has ended.
    pub(crate) fn one_left(&self) -> Notified<'_> {
        self.left.notified()
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

impl All {
    /// Has an idle one leave: the first that never had a request judged, else the first.
    fn evict(&mut self, hurried: bool) -> bool {
        let idle = |own: &(&u64, &Arc<Slot>)| own.1.busy.load(Ordering::Relaxed) == 0;
        let strangers_first = |own: &(&u64, &Arc<Slot>)| own.1.known.load(Ordering::Relaxed);
        let victim = self.slots.iter().filter(idle).min_by_key(strangers_first);
        let number = victim.map(|(number, _)| *number);
        let Some(slot) = number.and_then(|number| self.slots.remove(&number)) else {
            return false;
        };
        self.leaving += 1;
        slot.hurried.store(hurried, Ordering::Relaxed);
        slot.leave.notify_one();
        true
    }
}

impl Slot {
    /// Which of all connections it is.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A request of it has begun.
    pub(crate) fn asked(&self) {
        if !self.asked.swap(true, Ordering::Relaxed) {
            self.first.notify_one();
        }
    }

    /// Waits until the first request of it has begun.
    pub(crate) async fn first_request(&self) {
        if !self.asked.load(Ordering::Relaxed) {
            self.first.notified().await;
        }
    }

    /// Whether it is to leave without finishing what it has begun.
    pub(crate) fn is_hurried(&self) -> bool {
        self.hurried.load(Ordering::Relaxed)
    }

    /// A request is being judged from now on.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.known.store(true, Ordering::Relaxed);
        Busy(self.clone())
    }

    /// The connection is to make room: it ends with what it has begun.
    pub(crate) fn leave(&self) {
        self.leave.notify_one();
    }

    /// Closes the connection, whatever it has begun.
    pub(crate) fn cut(&self) {
        self.cut.notify_one();
    }

    /// Waits until the connection is to be closed.
    pub(crate) async fn is_cut(&self) {
        self.cut.notified().await;
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
        if all.slots.remove(&self.number).is_none() {
            all.leaving = all.leaving.saturating_sub(1);
        }
        let is_empty = all.slots.is_empty();
        drop(all);
        self.connections.left.notify_waiters();
        if is_empty {
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

    #[test]
    fn those_that_leave_are_bounded_too() {
        let connections = Arc::new(Connections::new(LEAVING_SHARE * 2));
        let places: Vec<Place> = (0..LEAVING_SHARE * 2 + 4)
            .map(|_| connections.enter().unwrap())
            .collect();
        let hurried: Vec<bool> = places.iter().map(|place| place.slot.is_hurried()).collect();
        let (first, rest) = hurried.split_at(4);
        assert_eq!(first, [false, false, true, true]);
        assert!(!rest.contains(&true));
        assert!(connections.evict());
        assert!(places[4].slot.is_hurried(), "the system waits for a file");
        assert_eq!(connections.lock().leaving, 5);
        drop(places);
        assert_eq!(connections.lock().leaving, 0);
        assert!(!connections.evict());
    }
}
