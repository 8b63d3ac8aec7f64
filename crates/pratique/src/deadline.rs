//! The moment from which on no answer is waited for.

use std::future::Future;
use std::time::Instant;

use pratique_policy::{Interrupt, Unfinished};
use pratique_types::{Status, StatusDetails};

use crate::chain::End;

/// Waits for what a request depends on, but not longer than until the deadline.
///
/// A thread can only be woken in time by a runtime: outside of tokio's, a wait is as long as what is waited for.
pub(crate) async fn within<F: Future>(interrupt: &Interrupt, future: F) -> Result<F::Output, End> {
    check(interrupt)?;
    #[cfg(feature = "webhooks")]
    if let Some(deadline) = interrupt.deadline()
        && tokio::runtime::Handle::try_current().is_ok()
    {
        return tokio::time::timeout_at(deadline.into(), future)
            .await
            .map_err(|_| passed().into());
    }
    Ok(future.await)
}

/// Whether work may go on.
pub(crate) fn check(interrupt: &Interrupt) -> Result<(), End> {
    match interrupt.is_set() {
        true => Err(interrupted(interrupt)),
        false => Ok(()),
    }
}

/// The end of a request whose work was interrupted: an answer at the deadline, none where the caller wants none.
pub(crate) fn interrupted(interrupt: &Interrupt) -> End {
    match interrupt.deadline() {
        Some(deadline) if deadline <= Instant::now() => passed().into(),
        _ => End::Unfinished(Unfinished::Interrupted),
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
