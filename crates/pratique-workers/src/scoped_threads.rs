//! Threads that live only as long as the work.

use std::num::NonZero;
use std::thread::{self, Builder};
use std::time::Duration;

use crate::Workers;

/// Starts one thread per core for each call, and joins them before it returns.
///
/// For rare and long work, such as loading at program start: no thread or thread-local memory remains. If the system
/// refuses to start threads, the calling thread does all the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScopedThreads;

/// The stack size: larger than that of main threads on most systems, so that the same nesting depth fits.
const STACK: usize = 64 << 20;

impl Workers for ScopedThreads {
    fn run_on(&self, others: usize, work: &(dyn Fn() + Sync)) {
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

    /// Ten times the cost of starting a thread.
    fn min_parallel_cost(&self) -> Duration {
        match cores() {
            1 => Duration::MAX,
            _ => Duration::from_millis(1),
        }
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
