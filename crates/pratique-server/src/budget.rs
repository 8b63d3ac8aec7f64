//! The memory that all requests may take together, in bytes.
//!
//! What a request takes is reserved before it is allocated: a [`Share`] grows with the body, then to what parsing and
//! evaluation may take at most, and shrinks to what is left of it, an answer. When the budget is out, shares that only
//! wait for their clients make room: bodies that arrive slowly, answers that are not read.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pratique::policy::MemoryBudget;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::connections::Slot;

/// How long a client is waited for before others may have its share.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long it is not tried again to make room after that failed: it takes a look at all shares.
const PAUSE: Duration = Duration::from_millis(10);
/// What a share may have at most to be a small one.
const MAX_SMALL: usize = 2 << 20;

/// Memory for all requests together. A quarter of it is for small ones only.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    state: Mutex<State>,
    /// Told when a part is given back.
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    used_by_large: usize,
    next: u64,
    shares: BTreeMap<u64, Entry>,
    /// When it was last not possible to make room.
    failed: Option<Instant>,
    pressure: Pressure,
}

/// What came of too little memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// How often there was none left.
    pub(crate) refused: u64,
    /// How many shares were taken from those that waited for their clients.
    pub(crate) evicted: u64,
}

#[derive(Debug)]
struct Entry {
    bytes: usize,
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    client: Client,
}

/// The client that a share waits for.
#[derive(Debug)]
pub(crate) enum Client {
    /// One that sends a body: this tells its reader to give up.
    Sending(Arc<Notify>),
    /// One that reads an answer: its connection is closed.
    Reading(Arc<Slot>),
}

/// A part of the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    number: u64,
}

/// There is not enough memory left in the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Budget {
            limit,
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// A share of so many bytes.
    pub(crate) fn share(self: &Arc<Self>, bytes: usize) -> Result<Share, Exhausted> {
        let mut state = self.lock();
        self.make_room(&mut state, None, bytes)?;
        let number = state.next;
        state.next += 1;
        state.shares.insert(number, Entry { bytes, waiting: None });
        self.account(&mut state, 0, bytes);
        drop(state);
        Ok(Share {
            budget: self.clone(),
            number,
        })
    }

    /// Gives up waiting for clients that take longer than this.
    pub(crate) fn expire(&self, time: Duration) {
        let mut state = self.lock();
        let is_late = |own: &Waiting| own.since.elapsed() > time;
        let late = state.shares.iter();
        let late = late.filter(|(_, entry)| entry.waiting.as_ref().is_some_and(is_late));
        let late: Vec<u64> = late.map(|(number, _)| *number).collect();
        late.into_iter().for_each(|number| self.evict(&mut state, number));
    }

    /// How much is in use.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.lock().used
    }

    /// What a small share has at most.
    fn small(&self) -> usize {
        (self.limit / 64).min(MAX_SMALL)
    }

    fn large(&self, bytes: usize) -> usize {
        match bytes > self.small() {
            true => bytes,
            false => 0,
        }
    }

    fn account(&self, state: &mut State, before: usize, after: usize) {
        state.used = state.used.saturating_sub(before).saturating_add(after);
        let (before, after) = (self.large(before), self.large(after));
        state.used_by_large = state.used_by_large.saturating_sub(before).saturating_add(after);
        if after < before {
            self.freed.notify_waiters();
        }
    }

    /// How much too much would be in use, of all and of what large shares may have.
    fn missing(&self, state: &State, before: usize, after: usize) -> (usize, usize) {
        let over = |used: usize, before: usize, after: usize, limit: usize| {
            used.saturating_sub(before)
                .saturating_add(after)
                .saturating_sub(limit)
        };
        let of_all = over(state.used, before, after, self.limit);
        let large = self.large(after);
        let for_large = self.limit - self.limit / 4;
        let of_large = match large {
            0 => 0,
            _ => over(state.used_by_large, self.large(before), large, for_large),
        };
        (of_all, of_large)
    }

    /// What came of too little memory since this was last asked.
    pub(crate) fn pressure(&self) -> Pressure {
        std::mem::take(&mut self.lock().pressure)
    }

    /// Counts a request for which there was none.
    pub(crate) fn refuse(&self) {
        self.lock().pressure.refused += 1;
    }

    /// Sees to it that a share may grow to so many bytes.
    fn make_room(&self, state: &mut State, number: Option<u64>, bytes: usize) -> Result<(), Exhausted> {
        let made = self.try_to_make_room(state, number, bytes);
        state.pressure.refused += u64::from(made.is_err());
        made
    }

    /// Takes what is missing from the largest shares that wait for their clients for the longest.
    fn try_to_make_room(
        &self,
        state: &mut State,
        number: Option<u64>,
        bytes: usize,
    ) -> Result<(), Exhausted> {
        let before = number.and_then(|number| state.shares.get(&number));
        let before = before.map_or(0, |entry| entry.bytes);
        let (mut of_all, mut of_large) = self.missing(state, before, bytes);
        if (of_all, of_large) == (0, 0) {
            return Ok(());
        }
        let now = Instant::now();
        if state
            .failed
            .is_some_and(|failed| now.duration_since(failed) < PAUSE)
        {
            return Err(Exhausted);
        }
        let waiting = state.shares.iter().filter_map(|(own, entry)| {
            let age = now.duration_since(entry.waiting.as_ref()?.since);
            (age >= PATIENCE && Some(*own) != number).then(|| {
                (
                    *own,
                    entry.bytes,
                    age.as_millis().saturating_mul(entry.bytes as u128),
                )
            })
        });
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_unstable_by_key(|(_, _, weight)| Reverse(*weight));
        let mut evicted = Vec::new();
        for (own, bytes, _) in waiting {
            if (of_all, of_large) == (0, 0) {
                break;
            }
            let large = self.large(bytes);
            if of_all == 0 && large == 0 {
                continue;
            }
            of_all = of_all.saturating_sub(bytes);
            of_large = of_large.saturating_sub(large);
            evicted.push(own);
        }
        if (of_all, of_large) != (0, 0) {
            state.failed = Some(now);
            return Err(Exhausted);
        }
        state.pressure.evicted += evicted.len() as u64;
        evicted.into_iter().for_each(|own| self.evict(state, own));
        Ok(())
    }

    fn set(&self, state: &mut State, number: u64, bytes: usize) {
        let entry = state.shares.get_mut(&number);
        if let Some(before) = entry.map(|entry| std::mem::replace(&mut entry.bytes, bytes)) {
            self.account(state, before, bytes);
        }
    }

    fn evict(&self, state: &mut State, number: u64) {
        let Some(entry) = state.shares.remove(&number) else {
            return;
        };
        self.account(state, entry.bytes, 0);
        match entry.waiting.map(|own| own.client) {
            Some(Client::Sending(reader)) => reader.notify_one(),
            Some(Client::Reading(slot)) => slot.cut(),
            None => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Changes it to so many bytes. It can always become smaller.
    pub(crate) fn resize(&self, bytes: usize) -> Result<(), Exhausted> {
        let mut state = self.budget.lock();
        let before = state.shares.get(&self.number).ok_or(Exhausted)?.bytes;
        if bytes > before {
            self.budget.make_room(&mut state, Some(self.number), bytes)?;
        }
        self.budget.set(&mut state, self.number, bytes);
        Ok(())
    }

    /// Changes it to so many bytes, and waits for others to give back as many, but no longer than this.
    pub(crate) async fn resize_within(&self, bytes: usize, time: Duration) -> Result<(), Exhausted> {
        let waiting = async {
            loop {
                let freed = self.budget.freed.notified();
                if let Ok(()) = self.resize(bytes) {
                    return;
                }
                freed.await;
            }
        };
        timeout(time, waiting).await.map_err(|_| Exhausted)
    }

    /// Makes it larger by so many bytes.
    fn grow(&self, bytes: usize) -> Result<(), Exhausted> {
        let mut state = self.budget.lock();
        let before = state.shares.get(&self.number).ok_or(Exhausted)?.bytes;
        let after = before.saturating_add(bytes);
        self.budget.make_room(&mut state, Some(self.number), after)?;
        self.budget.set(&mut state, self.number, after);
        Ok(())
    }

    /// Makes it smaller by so many bytes.
    fn shrink(&self, bytes: usize) {
        let mut state = self.budget.lock();
        if let Some(before) = state.shares.get(&self.number).map(|entry| entry.bytes) {
            self.budget
                .set(&mut state, self.number, before.saturating_sub(bytes));
        }
    }

    /// From now on it waits for a client: if that takes long, others may have the share.
    pub(crate) fn wait_for(&self, client: Client) {
        self.set_waiting(Some(Waiting {
            since: Instant::now(),
            client,
        }));
    }

    /// It does not wait for its client any more. Tells whether it is still there.
    pub(crate) fn proceed(&self) -> bool {
        self.set_waiting(None)
    }

    fn set_waiting(&self, waiting: Option<Waiting>) -> bool {
        let mut state = self.budget.lock();
        let entry = state.shares.get_mut(&self.number);
        entry.map(|entry| entry.waiting = waiting).is_some()
    }
}

/// What expressions hold during an evaluation.
impl MemoryBudget for Share {
    fn take(&self, bytes: usize) -> bool {
        self.grow(bytes).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.shrink(bytes);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.budget.lock();
        if let Some(entry) = state.shares.remove(&self.number) {
            self.budget.account(&mut state, entry.bytes, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Arc<Budget> {
        Arc::new(Budget::new(64_000))
    }

    #[test]
    fn shares_are_taken_and_given_back() {
        let budget = budget();
        let share = budget.share(500).unwrap();
        share.resize(40_000).unwrap();
        assert_eq!(share.resize(70_000), Err(Exhausted));
        assert_eq!(budget.used(), 40_000, "what fails changes nothing");
        share.resize(100).unwrap();
        let other = budget.share(47_000).unwrap();
        assert_eq!(budget.used(), 47_100);
        assert!(other.take(400) && !other.take(30_000));
        other.give_back(400);
        assert_eq!(budget.used(), 47_100);
        drop((share, other));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_quarter_is_for_small_ones() {
        let budget = budget();
        let large = budget.share(48_000).unwrap();
        assert_eq!(budget.share(1_001).map(drop), Err(Exhausted));
        let small: Vec<_> = (0..16).map(|_| budget.share(1_000).unwrap()).collect();
        assert_eq!(budget.share(1).map(drop), Err(Exhausted));
        drop(large);
        budget.share(1_001).unwrap();
        drop(small);
    }

    #[tokio::test]
    async fn who_waits_for_slow_clients_makes_room() {
        let budget = budget();
        let waits = |bytes| {
            let (share, told) = (budget.share(bytes).unwrap(), Arc::new(Notify::new()));
            share.wait_for(Client::Sending(told.clone()));
            (share, told)
        };
        let works = budget.share(10_000).unwrap();
        let (small, _) = waits(8_000);
        let (large, told) = waits(30_000);
        assert_eq!(budget.share(20_000).map(drop), Err(Exhausted), "they are quick");
        tokio::time::sleep(PATIENCE + PAUSE).await;
        let next = budget.share(20_000).unwrap();
        told.notified().await;
        assert!(!large.proceed(), "the largest had to go");
        assert_eq!(large.resize(0), Err(Exhausted));
        assert!(small.proceed() && works.proceed());
        assert_eq!(budget.used(), 38_000);
        let pressure = Pressure {
            refused: 1,
            evicted: 1,
        };
        assert_eq!(
            (budget.pressure(), budget.pressure()),
            (pressure, Pressure::default())
        );
        assert_eq!(budget.share(48_000).map(drop), Err(Exhausted));
        drop((small, works, large, next));
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test]
    async fn a_large_one_waits_for_others() {
        let budget = budget();
        let (first, second) = (budget.share(40_000).unwrap(), budget.share(0).unwrap());
        let short = second.resize_within(20_000, Duration::from_millis(20)).await;
        assert_eq!(short, Err(Exhausted));
        let waiting = tokio::spawn(async move {
            let waited = second.resize_within(20_000, Duration::from_secs(60)).await;
            waited.map(|()| second)
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!waiting.is_finished());
        first.resize(10_000).unwrap();
        let second = waiting.await.unwrap().unwrap();
        assert_eq!(budget.used(), 30_000);
        drop((first, second));
    }

    #[test]
    fn who_waits_too_long_is_gone() {
        let budget = budget();
        let slot = Arc::new(Slot::default());
        let share = budget.share(10_000).unwrap();
        share.wait_for(Client::Reading(slot));
        budget.expire(Duration::from_secs(60));
        assert_eq!(budget.used(), 10_000);
        budget.expire(Duration::ZERO);
        assert_eq!(budget.used(), 0);
    }
}
