//! The deadline of a request.

use std::future::Future;
use std::time::Instant;

use pratique_policy::{Interrupt, Unfinished};
use pratique_types::{Status, StatusDetails};

use crate::chain::end::End;

/// Waits for a future until the deadline of the request.
///
/// Only a tokio runtime has timers: without one, the deadline is not enforced during the wait.
pub(crate) async fn within<F: Future>(interrupt: &Interrupt, future: F) -> Result<F::Output, End> {
    check(interrupt)?;
    #[cfg(feature = "webhooks")]
    if let Some(deadline) = interrupt.deadline()
        && tokio::runtime::Handle::try_current().is_ok()
    {
        return tokio::time::timeout_at(deadline.into(), future)
            .await
            .map_err(|_| timed_out().into());
    }
    Ok(future.await)
}

/// Fails if the request was interrupted.
pub(crate) fn check(interrupt: &Interrupt) -> Result<(), End> {
    match interrupt.is_set() {
        true => Err(interrupted(interrupt)),
        false => Ok(()),
    }
}

/// The end of an interrupted request: a status after the deadline, no answer if the caller interrupted it.
pub(crate) fn interrupted(interrupt: &Interrupt) -> End {
    match interrupt.deadline() {
        Some(deadline) if deadline <= Instant::now() => timed_out().into(),
        _ => End::Unfinished(Unfinished::Interrupted),
    }
}

/// The status of an API server's timeout.
fn timed_out() -> Status {
    Status {
        status: "Failure".to_owned(),
        message: "Timeout: request did not complete within requested timeout".to_owned(),
        reason: "Timeout".to_owned(),
        details: Some(StatusDetails::default()),
        code: 504,
        ..Status::default()
    }
}
