//! Work on several threads whose results come in order.

use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How many units are in work at once, for each thread.
const AHEAD: usize = 4;

/// Sends units of work in their order.
pub(crate) struct WorkSender<U, R> {
    order: SyncSender<Receiver<Option<R>>>,
    jobs: JobSender<U, R>,
}

/// Results are not awaited any more.
#[derive(Debug)]
pub(crate) struct WorkClosed;

/// A unit, and where the parts of its result go; `None` ends them.
type Job<U, R> = (U, SyncSender<Option<R>>);

/// Where units go that no thread has taken yet; `None` once there will be no more.
type JobSender<U, R> = Arc<Mutex<Option<Sender<Job<U, R>>>>>;

impl<U, R> WorkSender<U, R> {
    /// Adds a unit. Waits while too many are in work.
    pub(crate) fn add(&self, unit: U) -> Result<(), WorkClosed> {
        let (parts, result) = sync_channel(1);
        self.order.send(result).map_err(|_| WorkClosed)?;
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = jobs.as_ref().ok_or(WorkClosed)?;
        jobs.send((unit, parts)).map_err(|_| WorkClosed)
    }
}

/// The number of threads that the machine runs at once.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Works on units on some threads, and consumes the results in the order of the units, on this thread. Bounded numbers of
/// units and of parts of results are held: a thread that gives one waits while those before it are not consumed.
///
/// `produce` runs on a thread that is not waited for once `consume` fails: it may wait for input.
pub(crate) fn in_order<U, R, E>(
    threads: usize,
    produce: impl FnOnce(WorkSender<U, R>) + Send + 'static,
    work: impl Fn(U, &mut dyn FnMut(R)) + Sync,
    mut consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    U: Send + 'static,
    R: Send + 'static,
    E: From<io::Error>,
{
    let (add, jobs) = channel::<Job<U, R>>();
    let (add, jobs) = (Arc::new(Mutex::new(Some(add))), Mutex::new(jobs));
    let (order, results) = sync_channel(threads.saturating_mul(AHEAD));
    let sender = WorkSender {
        order,
        jobs: Arc::clone(&add),
    };
    let next = || {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.recv()
    };
    thread::scope(|scope| {
        let _closing = Closing(&add);
        for _ in 0..threads {
            let (next, work) = (&next, &work);
            thread::Builder::new()
                .stack_size(crate::STACK)
                .spawn_scoped(scope, move || {
                    while let Ok((unit, parts)) = next() {
                        // Results that are not awaited any more are dropped.
                        work(unit, &mut |part| drop(parts.send(Some(part))));
                        drop(parts.send(None));
                    }
                })?;
        }
        thread::Builder::new()
            .stack_size(crate::STACK)
            .spawn(move || produce(sender))?;
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

/// Drops the only sender of jobs when it is dropped, so that no thread waits for more, even where the sender still exists.
struct Closing<'j, U, R>(&'j JobSender<U, R>);

impl<U, R> Drop for Closing<'_, U, R> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let mut found = Vec::new();
        let produce = |sender: WorkSender<u64, u64>| (0..200).for_each(|unit| sender.add(unit).unwrap());
        let work = |unit, emit: &mut dyn FnMut(u64)| {
            if unit % 7 == 0 {
                thread::sleep(std::time::Duration::from_millis(2));
            }
            (0..unit % 5).for_each(|part| emit(unit * 10 + part));
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
        let produce = move |sender: WorkSender<u64, u64>| {
            sender.add(1).unwrap();
            let _ = never.recv();
        };
        let work = |unit, emit: &mut dyn FnMut(u64)| emit(unit);
        let failed = in_order(2, produce, work, |_| Err(io::Error::other("no")));
        assert_eq!(failed.unwrap_err().to_string(), "no");
    }
}
