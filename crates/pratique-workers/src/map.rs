//! A parallel `map` over a slice.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Workers;

/// Applies `make` to each item, and returns the results in the order of the items. `cost` estimates the duration of an
/// item: one more thread is used for each [`Workers::min_parallel_cost`] of the total.
pub fn map<T: Sync, R: Send>(
    workers: &dyn Workers,
    items: &[T],
    cost: impl Fn(&T) -> Duration,
    make: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let costs = items.iter().map(cost);
    let cost = costs.fold(Duration::ZERO, Duration::saturating_add);
    let others = quotient(cost, workers.min_parallel_cost()).min(items.len().saturating_sub(1));
    if others == 0 {
        return items.iter().map(make).collect();
    }
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    workers.run_on(others, &|| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(item), Some(result)) = (items.get(at), results.get(at)) else {
                return;
            };
            let value = make(item);
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        }
    });
    let results = results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
    // An implementation of `Workers` may have called `work` less often than it should.
    let all = items.iter().zip(results);
    all.map(|(item, result)| result.unwrap_or_else(|| make(item)))
        .collect()
}

/// How often `part` fits into `whole`.
fn quotient(whole: Duration, part: Duration) -> usize {
    let quotient = whole.as_nanos().checked_div(part.as_nanos());
    quotient.map_or(usize::MAX, |times| usize::try_from(times).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{ScopedThreads, Sequential};

    /// Starts threads, and counts how many were requested.
    #[derive(Default)]
    struct CountingExecutor(AtomicUsize);

    impl Workers for CountingExecutor {
        fn run_on(&self, others: usize, work: &(dyn Fn() + Sync)) {
            self.0.fetch_add(others, Ordering::Relaxed);
            thread::scope(|scope| {
                for _ in 0..others.min(10) {
                    scope.spawn(work);
                }
                work();
            });
        }

        fn min_parallel_cost(&self) -> Duration {
            Duration::from_micros(4)
        }
    }

    /// Never calls `work`.
    struct Idle;

    impl Workers for Idle {
        fn run_on(&self, _: usize, _: &(dyn Fn() + Sync)) {}

        fn min_parallel_cost(&self) -> Duration {
            Duration::ZERO
        }
    }

    fn check(workers: &dyn Workers, count: u32) {
        let items: Vec<u32> = (0..count).collect();
        let cost = |_: &u32| Duration::from_micros(1);
        let expected: Vec<String> = items.iter().map(u32::to_string).collect();
        assert_eq!(map(workers, &items, cost, u32::to_string), expected, "{count}");
    }

    #[test]
    fn results_are_in_the_order_of_items() {
        for count in [0, 1, 2, 3, 64, 3001] {
            check(&Sequential, count);
            check(&CountingExecutor::default(), count);
            check(&ScopedThreads, count);
            check(&Idle, count);
        }
    }

    #[test]
    fn threads_are_used_as_far_as_the_cost_warrants() {
        for (count, others) in [(1, 0), (3, 0), (4, 1), (7, 1), (100, 25)] {
            let executor = CountingExecutor::default();
            check(&executor, count);
            assert_eq!(executor.0.load(Ordering::Relaxed), others, "{count}");
        }
        let executor = CountingExecutor::default();
        map(&executor, &[1, 2, 3], |_| Duration::MAX, |item| item + 1);
        assert_eq!(executor.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn threads_share_the_items() {
        // Each waits for the other, so that one thread alone would wait for ever.
        let (both, first) = (std::sync::Barrier::new(2), [0, 1]);
        let made = map(
            &CountingExecutor::default(),
            &first,
            |_| Duration::MAX,
            |item| {
                both.wait();
                item + 1
            },
        );
        assert_eq!(made, [1, 2]);
    }
}
