//! Work on several threads whose results come in order.

use std::collections::BTreeSet;
use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// How many units are in work at once, for each thread.
const AHEAD: usize = 4;

/// Sends units of work in their order.
pub(crate) struct WorkSender<U, R> {
    order: SyncSender<Receiver<Option<R>>>,
    jobs: JobSender<U, R>,
    turns: Arc<UnitTurns>,
}

/// Results are not awaited any more.
#[derive(Debug)]
pub(crate) struct WorkClosed;

/// A unit with its turn, and where the parts of its result go; `None` ends them.
type OrderedJob<U, R> = (U, UnitTurn, SyncSender<Option<R>>);

/// Where units go that no thread has taken yet; `None` once there will be no more.
type JobSender<U, R> = Arc<Mutex<Option<Sender<OrderedJob<U, R>>>>>;

impl<U, R> WorkSender<U, R> {
    /// Adds a unit. Waits while too many are in work.
    pub(crate) fn add(&self, unit: U) -> Result<(), WorkClosed> {
        let (parts, result) = sync_channel(1);
        self.order.send(result).map_err(|_| WorkClosed)?;
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = jobs.as_ref().ok_or(WorkClosed)?;
        jobs.send((unit, self.turns.next(), parts))
            .map_err(|_| WorkClosed)
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
    consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    U: Send + 'static,
    R: Send + 'static,
    E: From<io::Error>,
{
    let without_turn = |unit, turn, emit: &mut dyn FnMut(R)| {
        drop::<UnitTurn>(turn);
        work(unit, emit);
    };
    in_turns(threads, produce, without_turn, consume)
}

/// As [`in_order`], for work a part of which is done in the order of the units as well: in its [turn](UnitTurn).
pub(crate) fn in_turns<U, R, E>(
    threads: usize,
    produce: impl FnOnce(WorkSender<U, R>) + Send + 'static,
    work: impl Fn(U, UnitTurn, &mut dyn FnMut(R)) + Sync,
    mut consume: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    U: Send + 'static,
    R: Send + 'static,
    E: From<io::Error>,
{
    let (add, jobs) = channel::<OrderedJob<U, R>>();
    let (add, jobs) = (Arc::new(Mutex::new(Some(add))), Mutex::new(jobs));
    let (order, results) = sync_channel(threads.saturating_mul(AHEAD));
    let sender = WorkSender {
        order,
        jobs: Arc::clone(&add),
        turns: Arc::default(),
    };
    let next = || {
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.recv()
    };
    thread::scope(|scope| {
        let _closing = ClosingSender(&add);
        for _ in 0..threads {
            let (next, work) = (&next, &work);
            thread::Builder::new()
                .stack_size(crate::STACK)
                .spawn_scoped(scope, move || {
                    while let Ok((unit, turn, parts)) = next() {
                        // Results that are not awaited any more are dropped.
                        work(unit, turn, &mut |part| drop(parts.send(Some(part))));
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

/// The turn of a unit: [begun](Self::begin) once those of all units before have ended, and ended where it is dropped.
pub(crate) struct UnitTurn {
    turns: Arc<UnitTurns>,
    number: u64,
}

/// The turns of all units.
#[derive(Default)]
struct UnitTurns {
    state: Mutex<TurnState>,
    ended: Condvar,
}

#[derive(Default)]
struct TurnState {
    /// How many turns were given out.
    given: u64,
    /// The first turn that has not ended.
    current: u64,
    /// Those after it that have.
    ended: BTreeSet<u64>,
}

impl UnitTurns {
    fn next(self: &Arc<Self>) -> UnitTurn {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.given;
        state.given += 1;
        UnitTurn {
            turns: Arc::clone(self),
            number,
        }
    }
}

impl UnitTurn {
    /// Waits until the turns of all units before have ended.
    pub(crate) fn begin(&self) {
        let state = self.turns.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .turns
            .ended
            .wait_while(state, |state| state.current < self.number);
        drop(waited);
    }

    /// Waits for the turn of a unit whose work is done in order, and ends it at once where it is not.
    pub(crate) fn begin_if(self, is_in_order: bool) -> Option<Self> {
        let turn = Some(self).filter(|_| is_in_order)?;
        turn.begin();
        Some(turn)
    }
}

impl Drop for UnitTurn {
    /// Ends it, also where the work panics, so that no other waits for ever.
    fn drop(&mut self) {
        let mut state = self.turns.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ended.insert(self.number);
        while let Some(number) = state
            .ended
            .first()
            .copied()
            .filter(|number| *number == state.current)
        {
            state.ended.remove(&number);
            state.current += 1;
        }
        self.turns.ended.notify_all();
    }
}

/// Drops the only sender of jobs when it is dropped, so that no thread waits for more, even where the sender still exists.
struct ClosingSender<'j, U, R>(&'j JobSender<U, R>);

impl<U, R> Drop for ClosingSender<'_, U, R> {
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
        let work = |unit: u64, emit: &mut dyn FnMut(u64)| {
            if unit.is_multiple_of(7) {
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
    fn turns_come_in_order() {
        let order = Mutex::new(Vec::new());
        let produce = |sender: WorkSender<u64, u64>| (0..200).for_each(|unit| sender.add(unit).unwrap());
        let work = |unit: u64, turn: UnitTurn, emit: &mut dyn FnMut(u64)| {
            if unit.is_multiple_of(7) {
                thread::sleep(std::time::Duration::from_millis(2));
            }
            // Not every unit takes its turn.
            if !unit.is_multiple_of(5) {
                turn.begin();
                order.lock().unwrap().push(unit);
            }
            drop(turn);
            emit(unit);
        };
        in_turns(3, produce, work, |_| Ok::<(), io::Error>(())).unwrap();
        let expected = (0..200).filter(|unit| unit % 5 != 0);
        assert_eq!(order.into_inner().unwrap(), expected.collect::<Vec<_>>());
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
