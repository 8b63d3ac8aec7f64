//! Threads that are there for as long as something is done.

use std::num::NonZero;
use std::thread::{self, Builder};
use std::time::Duration;

use crate::Workers;

/// A thread for each core of the machine, for as long as something is done.
///
/// For what is done seldom and takes long, such as loading at the start of a program: nothing stays of it. Where the system
/// gives no threads, whoever asks does all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads;

/// More than main threads have on most systems, so that what nests deep there may do so here.
const STACK: usize = 64 << 20;

impl Workers for Threads {
    fn together(&self, others: usize, work: &(dyn Fn() + Sync)) {
        thread::scope(|scope| {
            for number in 0..others.min(cores() - 1) {
                let thread = Builder::new().name(format!("pratique-{number}"));
                if thread.stack_size(STACK).spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
    }

    /// To start a thread takes a tenth of that.
    fn worthwhile(&self) -> Duration {
        match cores() {
            1 => Duration::MAX,
            _ => Duration::from_millis(1),
        }
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
