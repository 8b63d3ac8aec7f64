//! Threads that a caller lends.
//!
//! The engines of Pratique have no threads. They load, compile and judge on the thread that asks; where so much is to be
//! done that it pays, they share it with [`Workers`], whose threads are the caller's: those of a pool, or [`Threads`] that
//! are there for as long as something is done.
//!
//! ```
//! use std::time::Duration;
//!
//! use pratique_workers::{Threads, map};
//!
//! let squares = map(&Threads, &[1, 2, 3, 4], |_| Duration::from_millis(4), |number| number * number);
//! assert_eq!(squares, [1, 4, 9, 16]);
//! ```

mod map;
mod threads;

use std::time::Duration;

pub use map::map;
pub use threads::Threads;

/// Does something on several threads at the same time.
pub trait Workers: Send + Sync {
    /// Calls `work` on this thread and on up to so many others, and returns when all calls have.
    ///
    /// Each call does what the others have not begun, so that where fewer help it only takes longer.
    fn together(&self, others: usize, work: &(dyn Fn() + Sync));

    /// How long something has to take to be worth the way to another thread and back.
    fn worthwhile(&self) -> Duration;
}

/// About what so many take, of which each takes this long.
pub fn estimate(each: Duration, count: usize) -> Duration {
    each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Nobody helps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Workers for Alone {
    fn together(&self, _: usize, work: &(dyn Fn() + Sync)) {
        work();
    }

    fn worthwhile(&self) -> Duration {
        Duration::MAX
    }
}
