//! Work on several threads whose results come in order.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How many units are in work at once, for each thread.
const AHEAD: usize = 4;

/// Takes units of work in their order.
pub(super) struct Intake<U, R> {
    order: SyncSender<Receiver<Option<R>>>,
    queue: Arc<Queue<U, R>>,
}

/// Results are not awaited any more.
#[derive(Debug)]
pub(super) struct Closed;

impl<U, R> Intake<U, R> {
    /// Adds a unit. Waits while too many are in work.
    pub(super) fn add(&self, unit: U) -> Result<(), Closed> {
        let (give, result) = sync_channel(1);
        self.order.send(result).map_err(|_| Closed)?;
        self.queue.push((unit, give))
    }
}

/// A unit, and where the parts of its result go; `None` ends them.
type Job<U, R> = (U, SyncSender<Option<R>>);

/// Units that no thread has taken yet.
struct Queue<U, R> {
    state: Mutex<State<Job<U, R>>>,
    changed: Condvar,
}

struct State<J> {
    jobs: VecDeque<J>,
    is_closed: bool,
}

impl<U, R> Queue<U, R> {
    fn locked(&self) -> MutexGuard<'_, State<Job<U, R>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job<U, R>) -> Result<(), Closed> {
        let mut state = self.locked();
        if state.is_closed {
            return Err(Closed);
        }
        state.jobs.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    /// The next unit; `None` once there will be no more.
    fn take(&self) -> Option<Job<U, R>> {
        let mut state = self.locked();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        self.locked().is_closed = true;
        self.changed.notify_all();
    }
}

/// The number of threads that the machine runs at once.
pub(super) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Works on units on some threads, and consumes the results in the order of the units, on this thread. Bounded numbers of
/// units and of parts of results are held: a thread that gives one waits while those before it are not consumed.
///
/// `produce` runs on a thread that is not waited for once `consume` fails: it may wait for input.
pub(super) fn in_order<U, R, E>(
    threads: usize,
    produce: impl FnOnce(Intake<U, R>) + Send + 'static,
    work: impl Fn(U, &mut dyn FnMut(R)) + Sync,
    mut consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    U: Send + 'static,
    R: Send + 'static,
    E: From<io::Error>,
{
    let queue = Arc::new(Queue {
        state: Mutex::new(State {
            jobs: VecDeque::new(),
            is_closed: false,
        }),
        changed: Condvar::new(),
    });
    let (order, results) = sync_channel(threads.saturating_mul(AHEAD));
    let intake = Intake {
        order,
        queue: Arc::clone(&queue),
    };
    thread::scope(|scope| {
        let _closing = Closing(&queue);
        for _ in 0..threads {
            let (queue, work) = (&queue, &work);
            thread::Builder::new()
                .stack_size(crate::STACK)
                .spawn_scoped(scope, move || {
                    while let Some((unit, give)) = queue.take() {
                        // Results that are not awaited any more are dropped.
                        work(unit, &mut |part| drop(give.send(Some(part))));
                        drop(give.send(None));
                    }
                })?;
        }
        thread::Builder::new()
            .stack_size(crate::STACK)
            .spawn(move || produce(intake))?;
        for parts in results {
            loop {
                match parts.recv() {
                    Ok(Some(part)) => consume(part)?,
                    Ok(None) => break,
                    // The thread panicked, and its panic goes on when it is joined.
                    Err(_) => return Ok(()),
                }
            }
        }
        Ok(())
    })
}

/// Closes a queue when it is dropped, so that no thread waits for more.
struct Closing<'q, U, R>(&'q Queue<U, R>);

impl<U, R> Drop for Closing<'_, U, R> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let mut found = Vec::new();
        let produce = |intake: Intake<u64, u64>| (0..200).for_each(|unit| intake.add(unit).unwrap());
        let work = |unit, give: &mut dyn FnMut(u64)| {
            if unit % 7 == 0 {
                thread::sleep(std::time::Duration::from_millis(2));
            }
            (0..unit % 5).for_each(|part| give(unit * 10 + part));
        };
        let consume = |result| {
            found.push(result);
            Ok::<(), io::Error>(())
        };
        in_order(3, produce, work, consume).unwrap();
        let expected = (0..200).flat_map(|unit| (0..unit % 5).map(move |part| unit * 10 + part));
        assert_eq!(found, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_failure_ends_it_while_input_is_waited_for() {
        let (_kept, never) = sync_channel::<()>(0);
        let produce = move |intake: Intake<u64, u64>| {
            intake.add(1).unwrap();
            let _ = never.recv();
        };
        let work = |unit, give: &mut dyn FnMut(u64)| give(unit);
        let failed = in_order(2, produce, work, |_| Err(io::Error::other("no")));
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }
}
