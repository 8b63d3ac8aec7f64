//! Panics of the parts of the chain that programs write: they refuse one request, which is observed, audited and counted
//! as any other.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use pratique_types::{Reason, Status};

use crate::chain::end::ChainEnd;

/// Runs a part of the chain. The state that it may have left half done is of a request that is refused.
pub(crate) fn caught<T>(name: &str, part: impl FnOnce() -> T) -> Result<T, ChainEnd> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|_| panicked(name))
}

/// Runs a part of the chain that waits; it is made, polled and dropped within.
pub(crate) async fn caught_async<'f, T>(
    name: &str,
    part: impl FnOnce() -> Pin<Box<dyn Future<Output = T> + Send + 'f>>,
) -> Result<T, ChainEnd> {
    let mut future = Some(caught(name, part)?);
    let ended = poll_fn(|context| {
        let Some(running) = &mut future else {
            return Poll::Pending;
        };
        match caught(name, || running.as_mut().poll(context)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
            Err(end) => Poll::Ready(Err(end)),
        }
    })
    .await;
    // A panic while dropping is caught as well.
    caught(name, || drop(future.take()))?;
    ended
}

/// The end of a request that a part of the chain panicked over. The message of the panic is for the program's log, to which
/// its hook has written it, and not for the user.
fn panicked(name: &str) -> ChainEnd {
    tracing::error!(part = name, "A part of the admission chain panicked");
    let message = format!("Internal error occurred: admission step {name:?} panicked");
    Status::failure(Reason::InternalError, message).into()
}
