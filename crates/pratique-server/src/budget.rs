//! The memory budget of all requests, in bytes.
//!
//! Memory is reserved before it is allocated: the [`BudgetShare`] of a request grows with the body, then to the maximum of parsing
//! and evaluation, and shrinks to the size of the response. If the budget is exhausted, shares that only wait for their
//! clients are evicted: bodies that arrive slowly, and responses that are not read.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pratique::policy::MemoryBudget;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::connections::TrackedConnection;

/// How long a share waits for its client before it may be evicted.
const EVICT_AFTER: Duration = Duration::from_millis(500);
/// The pause before the next attempt to evict shares after a failure, as an attempt visits all shares.
const PAUSE: Duration = Duration::from_millis(10);
/// The maximum size of a small share, in bytes.
const MAX_SMALL: usize = 2 << 20;

/// The memory budget of all requests. A quarter is reserved for small shares.
#[derive(Debug)]
pub(crate) struct RequestBudget {
    limit: usize,
    state: Mutex<BudgetState>,
    /// Notified when a large share shrinks.
    freed: Notify,
}

#[derive(Debug, Default)]
struct BudgetState {
    used: usize,
    used_by_large: usize,
    next: u64,
    shares: BTreeMap<u64, BudgetEntry>,
    /// The time of the last failure to evict enough shares.
    failed: Option<Instant>,
    pressure: MemoryPressure,
}

/// The effects of a lack of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryPressure {
    /// The number of refused reservations.
    pub(crate) refused: u64,
    /// The number of evicted shares.
    pub(crate) evicted: u64,
}

#[derive(Debug)]
struct BudgetEntry {
    bytes: usize,
    waiting: Option<WaitingRequest>,
}

#[derive(Debug)]
struct WaitingRequest {
    since: Instant,
    client: WaitingClient,
}

/// The client that a share waits for.
#[derive(Debug)]
pub(crate) enum WaitingClient {
    /// A client that sends a body; the notification ends reading it.
    Sending(Arc<Notify>),
    /// A client that reads a response; its connection is closed.
    Reading(Arc<TrackedConnection>),
}

/// A part of the budget, released when dropped.
#[derive(Debug)]
pub(crate) struct BudgetShare {
    budget: Arc<RequestBudget>,
    number: u64,
}

/// There is not enough memory left in the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetExhausted;

impl RequestBudget {
    pub(crate) fn new(limit: usize) -> Self {
        RequestBudget {
            limit,
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Reserves a share of this size.
    pub(crate) fn share(self: &Arc<Self>, bytes: usize) -> Result<BudgetShare, BudgetExhausted> {
        let mut state = self.lock();
        self.make_room(&mut state, None, bytes)?;
        let number = state.next;
        state.next += 1;
        state.shares.insert(number, BudgetEntry { bytes, waiting: None });
        self.account(&mut state, 0, bytes);
        drop(state);
        Ok(BudgetShare {
            budget: self.clone(),
            number,
        })
    }

    /// Evicts shares that have waited for their clients for longer than `time`.
    pub(crate) fn expire(&self, time: Duration) {
        let mut state = self.lock();
        let is_late = |waiting: &WaitingRequest| waiting.since.elapsed() > time;
        let late = state.shares.iter();
        let late = late.filter(|(_, entry)| entry.waiting.as_ref().is_some_and(is_late));
        let late: Vec<u64> = late.map(|(number, _)| *number).collect();
        late.into_iter().for_each(|number| self.evict(&mut state, number));
    }

    /// The reserved memory.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.lock().used
    }

    /// The maximum size of a small share.
    fn small(&self) -> usize {
        (self.limit / 64).min(MAX_SMALL)
    }

    fn large(&self, bytes: usize) -> usize {
        if bytes > self.small() { bytes } else { 0 }
    }

    fn account(&self, state: &mut BudgetState, old_bytes: usize, new_bytes: usize) {
        state.used = state.used.saturating_sub(old_bytes).saturating_add(new_bytes);
        let (old_large, new_large) = (self.large(old_bytes), self.large(new_bytes));
        state.used_by_large = state
            .used_by_large
            .saturating_sub(old_large)
            .saturating_add(new_large);
        if new_large < old_large {
            self.freed.notify_waiters();
        }
    }

    /// The bytes that are missing in the budget and in the part for large shares.
    fn missing(&self, state: &BudgetState, old_bytes: usize, new_bytes: usize) -> (usize, usize) {
        let over = |used: usize, old: usize, new: usize, limit: usize| {
            used.saturating_sub(old).saturating_add(new).saturating_sub(limit)
        };
        let of_all = over(state.used, old_bytes, new_bytes, self.limit);
        let large = self.large(new_bytes);
        let for_large = self.limit - self.limit / 4;
        let of_large = match large {
            0 => 0,
            _ => over(state.used_by_large, self.large(old_bytes), large, for_large),
        };
        (of_all, of_large)
    }

    /// Takes the effects since the last call.
    pub(crate) fn pressure(&self) -> MemoryPressure {
        std::mem::take(&mut self.lock().pressure)
    }

    /// Counts a refused request.
    pub(crate) fn refuse(&self) {
        self.lock().pressure.refused += 1;
    }

    /// Evicts shares until a share may grow to this size.
    fn make_room(
        &self,
        state: &mut BudgetState,
        number: Option<u64>,
        bytes: usize,
    ) -> Result<(), BudgetExhausted> {
        let made = self.try_to_make_room(state, number, bytes);
        state.pressure.refused += u64::from(made.is_err());
        made
    }

    /// Evicts the largest shares that have waited longest for their clients, as far as needed.
    fn try_to_make_room(
        &self,
        state: &mut BudgetState,
        number: Option<u64>,
        bytes: usize,
    ) -> Result<(), BudgetExhausted> {
        let old_entry = number.and_then(|number| state.shares.get(&number));
        let old_bytes = old_entry.map_or(0, |entry| entry.bytes);
        let (mut of_all, mut of_large) = self.missing(state, old_bytes, bytes);
        if (of_all, of_large) == (0, 0) {
            return Ok(());
        }
        let now = Instant::now();
        if state
            .failed
            .is_some_and(|failed| now.duration_since(failed) < PAUSE)
        {
            return Err(BudgetExhausted);
        }
        let waiting = state.shares.iter().filter_map(|(candidate, entry)| {
            let age = now.duration_since(entry.waiting.as_ref()?.since);
            (age >= EVICT_AFTER && Some(*candidate) != number).then(|| {
                (
                    *candidate,
                    entry.bytes,
                    age.as_millis().saturating_mul(entry.bytes as u128),
                )
            })
        });
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_unstable_by_key(|(_, _, weight)| Reverse(*weight));
        let mut evicted = Vec::new();
        for (candidate, bytes, _) in waiting {
            if (of_all, of_large) == (0, 0) {
                break;
            }
            let large = self.large(bytes);
            if of_all == 0 && large == 0 {
                continue;
            }
            of_all = of_all.saturating_sub(bytes);
            of_large = of_large.saturating_sub(large);
            evicted.push(candidate);
        }
        if (of_all, of_large) != (0, 0) {
            state.failed = Some(now);
            return Err(BudgetExhausted);
        }
        state.pressure.evicted += evicted.len() as u64;
        evicted.into_iter().for_each(|number| self.evict(state, number));
        Ok(())
    }

    fn set(&self, state: &mut BudgetState, number: u64, bytes: usize) {
        let entry = state.shares.get_mut(&number);
        if let Some(old_bytes) = entry.map(|entry| std::mem::replace(&mut entry.bytes, bytes)) {
            self.account(state, old_bytes, bytes);
        }
    }

    fn evict(&self, state: &mut BudgetState, number: u64) {
        let Some(entry) = state.shares.remove(&number) else {
            return;
        };
        self.account(state, entry.bytes, 0);
        match entry.waiting.map(|waiting| waiting.client) {
            Some(WaitingClient::Sending(reader)) => reader.notify_one(),
            Some(WaitingClient::Reading(connection)) => connection.abort(),
            None => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BudgetShare {
    /// Resizes the share. Shrinking does not fail unless it was evicted.
    pub(crate) fn resize(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        let mut state = self.budget.lock();
        let old_bytes = state.shares.get(&self.number).ok_or(BudgetExhausted)?.bytes;
        if bytes > old_bytes {
            self.budget.make_room(&mut state, Some(self.number), bytes)?;
        }
        self.budget.set(&mut state, self.number, bytes);
        Ok(())
    }

    /// Resizes the share, and waits for others to release memory, with a timeout.
    pub(crate) async fn resize_within(&self, bytes: usize, time: Duration) -> Result<(), BudgetExhausted> {
        let waiting = async {
            loop {
                let freed = self.budget.freed.notified();
                if let Ok(()) = self.resize(bytes) {
                    return;
                }
                freed.await;
            }
        };
        timeout(time, waiting).await.map_err(|_| BudgetExhausted)
    }

    /// Grows the share.
    fn grow(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        let mut state = self.budget.lock();
        let old_bytes = state.shares.get(&self.number).ok_or(BudgetExhausted)?.bytes;
        let new_bytes = old_bytes.saturating_add(bytes);
        self.budget.make_room(&mut state, Some(self.number), new_bytes)?;
        self.budget.set(&mut state, self.number, new_bytes);
        Ok(())
    }

    /// Shrinks the share.
    fn shrink(&self, bytes: usize) {
        let mut state = self.budget.lock();
        if let Some(old_bytes) = state.shares.get(&self.number).map(|entry| entry.bytes) {
            self.budget
                .set(&mut state, self.number, old_bytes.saturating_sub(bytes));
        }
    }

    /// Marks the share as waiting for a client, so that it may be evicted.
    pub(crate) fn wait_for(&self, client: WaitingClient) {
        self.set_waiting(Some(WaitingRequest {
            since: Instant::now(),
            client,
        }));
    }

    /// Marks the share as not waiting. Returns whether it still exists.
    pub(crate) fn proceed(&self) -> bool {
        self.set_waiting(None)
    }

    fn set_waiting(&self, waiting: Option<WaitingRequest>) -> bool {
        let mut state = self.budget.lock();
        let entry = state.shares.get_mut(&self.number);
        entry.map(|entry| entry.waiting = waiting).is_some()
    }
}

/// The budget of expressions during an evaluation.
impl MemoryBudget for BudgetShare {
    fn take(&self, bytes: usize) -> bool {
        self.grow(bytes).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.shrink(bytes);
    }
}

impl Drop for BudgetShare {
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

    fn budget() -> Arc<RequestBudget> {
        Arc::new(RequestBudget::new(64_000))
    }

    #[test]
    fn shares_are_reserved_and_released() {
        let budget = budget();
        let share = budget.share(500).unwrap();
        share.resize(40_000).unwrap();
        assert_eq!(share.resize(70_000), Err(BudgetExhausted));
        assert_eq!(budget.used(), 40_000, "a failure changes nothing");
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
    fn a_quarter_is_for_small_shares() {
        let budget = budget();
        let large = budget.share(48_000).unwrap();
        assert_eq!(budget.share(1_001).map(drop), Err(BudgetExhausted));
        let small: Vec<_> = (0..16).map(|_| budget.share(1_000).unwrap()).collect();
        assert_eq!(budget.share(1).map(drop), Err(BudgetExhausted));
        drop(large);
        budget.share(1_001).unwrap();
        drop(small);
    }

    #[tokio::test(start_paused = true)]
    async fn shares_of_slow_clients_are_evicted() {
        let budget = budget();
        let waits = |bytes| {
            let (share, evicted) = (budget.share(bytes).unwrap(), Arc::new(Notify::new()));
            share.wait_for(WaitingClient::Sending(evicted.clone()));
            (share, evicted)
        };
        let works = budget.share(10_000).unwrap();
        let (small, _) = waits(8_000);
        let (large, evicted) = waits(30_000);
        assert_eq!(
            budget.share(20_000).map(drop),
            Err(BudgetExhausted),
            "they are quick"
        );
        tokio::time::sleep(EVICT_AFTER + PAUSE).await;
        let next = budget.share(20_000).unwrap();
        evicted.notified().await;
        assert!(!large.proceed(), "the largest had to go");
        assert_eq!(large.resize(0), Err(BudgetExhausted));
        assert!(small.proceed() && works.proceed());
        assert_eq!(budget.used(), 38_000);
        let pressure = MemoryPressure {
            refused: 1,
            evicted: 1,
        };
        assert_eq!(
            (budget.pressure(), budget.pressure()),
            (pressure, MemoryPressure::default())
        );
        assert_eq!(budget.share(48_000).map(drop), Err(BudgetExhausted));
        drop((small, works, large, next));
        assert_eq!(budget.used(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn large_shares_wait_for_others() {
        let budget = budget();
        let (first, second) = (budget.share(40_000).unwrap(), budget.share(0).unwrap());
        let short = second.resize_within(20_000, Duration::from_millis(20)).await;
        assert_eq!(short, Err(BudgetExhausted));
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
    fn shares_expire() {
        let budget = budget();
        let connection = Arc::new(TrackedConnection::default());
        let share = budget.share(10_000).unwrap();
        share.wait_for(WaitingClient::Reading(connection));
        budget.expire(Duration::from_secs(60));
        assert_eq!(budget.used(), 10_000);
        budget.expire(Duration::ZERO);
        assert_eq!(budget.used(), 0);
    }
}
