//! The moment from which nobody waits for an answer.

use std::future::Future;
use std::time::Instant;

use pratique_types::{Status, StatusDetails};

/// Waits for what a request depends on, but not longer than until the deadline.
///
/// A thread can only be woken in time by a runtime: outside of tokio's, a wait is as long as what is waited for.
pub(crate) async fn within<F: Future>(
    deadline: Option<Instant>,
    future: F,
) -> Result<F::Output, Box<Status>> {
    check(deadline)?;
    #[cfg(feature = "webhooks")]
    if let Some(deadline) = deadline
        && tokio::runtime::Handle::try_current().is_ok()
    {
        return tokio::time::timeout_at(deadline.into(), future)
            .await
            .map_err(|_| Box::new(passed()));
    }
    Ok(future.await)
}

/// Whether there is time left.
pub(crate) fn check(deadline: Option<Instant>) -> Result<(), Box<Status>> {
    match deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        true => Err(Box::new(passed())),
        false => Ok(()),
    }
}

/// What an API server says when it gives up.
fn passed() -> Status {
    Status {
        status: "Failure".to_owned(),
        message: "Timeout: request did not complete within requested timeout".to_owned(),
        reason: "Timeout".to_owned(),
        details: Some(StatusDetails::default()),
        code: 504,
        ..Status::default()
    }
}
