//! Work that many clients do at the same time.

use std::thread;

use crate::error::ToolError;

/// The results of threads that all do the same work at the same time.
///
/// # Errors
/// One of them panicked.
pub fn together<T: Send>(clients: usize, work: impl Fn() -> T + Sync) -> Result<Vec<T>, ToolError> {
    thread::scope(|scope| {
        let all: Vec<_> = (0..clients).map(|_| scope.spawn(&work)).collect();
        let all = all.into_iter().map(|client| client.join());
        all.collect::<Result<_, _>>()
            .map_err(|_| "a client panicked".into())
    })
}
