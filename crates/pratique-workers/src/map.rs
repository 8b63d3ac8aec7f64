//! A list, made into another by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Workers;

/// What `make` makes of each item, in their order, whoever makes it. `cost` says about how long that takes: as many others
/// are asked to help as that is worthwhile for.
pub fn map<T: Sync, R: Send>(
    workers: &dyn Workers,
    items: &[T],
    cost: impl Fn(&T) -> Duration,
    make: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let costs = items.iter().map(cost);
    let cost = costs.fold(Duration::ZERO, Duration::saturating_add);
    let others = times(cost, workers.worthwhile()).min(items.len().saturating_sub(1));
    if others == 0 {
        return items.iter().map(make).collect();
    }
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    workers.together(others, &|| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(item), Some(result)) = (items.get(at), results.get(at)) else {
                return;
            };
            let made = make(item);
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
        }
    });
    let made = results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
    // What workers left undone is done here, so that nothing is missing.
    let all = items.iter().zip(made);
    all.map(|(item, made)| made.unwrap_or_else(|| make(item)))
        .collect()
}

/// How often one fits into the other.
fn times(whole: Duration, part: Duration) -> usize {
    let times = whole.as_nanos().checked_div(part.as_nanos());
    times.map_or(usize::MAX, |times| usize::try_from(times).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Alone, Threads};

    /// As many threads as are wanted, and how many these were.
    #[derive(Default)]
    struct Crowd(AtomicUsize);

    impl Workers for Crowd {
        fn together(&self, others: usize, work: &(dyn Fn() + Sync)) {
            self.0.fetch_add(others, Ordering::Relaxed);
            thread::scope(|scope| {
                for _ in 0..others.min(10) {
                    scope.spawn(work);
                }
                work();
            });
        }

        fn worthwhile(&self) -> Duration {
            Duration::from_micros(4)
        }
    }

    /// Does nothing at all.
    struct Idle;

    impl Workers for Idle {
        fn together(&self, _: usize, _: &(dyn Fn() + Sync)) {}

        fn worthwhile(&self) -> Duration {
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
    fn the_order_is_that_of_the_items() {
        for count in [0, 1, 2, 3, 64, 3001] {
            check(&Alone, count);
            check(&Crowd::default(), count);
            check(&Threads, count);
            check(&Idle, count);
        }
    }

    #[test]
    fn as_many_help_as_is_worthwhile() {
        for (count, others) in [(1, 0), (3, 0), (4, 1), (7, 1), (100, 25)] {
            let crowd = Crowd::default();
            check(&crowd, count);
            assert_eq!(crowd.0.load(Ordering::Relaxed), others, "{count}");
        }
        let crowd = Crowd::default();
        map(&crowd, &[1, 2, 3], |_| Duration::MAX, |item| item + 1);
        assert_eq!(crowd.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn others_do_what_one_does_not_get_to() {
        // Each waits for the other, so that one thread alone would wait for ever.
        let (both, first) = (std::sync::Barrier::new(2), [0, 1]);
        let made = map(
            &Crowd::default(),
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
