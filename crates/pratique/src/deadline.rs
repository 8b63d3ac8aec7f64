//! The deadline of a request.

use std::future::Future;
use std::time::Instant;

use pratique_policy::{Interrupt, UnfinishedEvaluation};
use pratique_types::status;

use crate::chain::end::ChainEnd;

/// Waits for a future until the deadline of the request.
///
/// Only a tokio runtime has timers: without one, the deadline is not enforced during the wait.
pub(crate) async fn within<F: Future>(interrupt: &Interrupt, future: F) -> Result<F::Output, ChainEnd> {
    check_interrupt(interrupt)?;
    #[cfg(feature = "webhooks")]
    if let Some(deadline) = interrupt.deadline()
        && tokio::runtime::Handle::try_current().is_ok()
    {
        return tokio::time::timeout_at(deadline.into(), future)
            .await
            .map_err(|_| status::timeout().into());
    }
    Ok(future.await)
}

/// Fails if the request was interrupted.
pub(crate) fn check_interrupt(interrupt: &Interrupt) -> Result<(), ChainEnd> {
    if interrupt.is_set() {
        Err(interrupted(interrupt))
    } else {
        Ok(())
    }
}

/// The end of an interrupted request: a status after the deadline, no answer if the caller interrupted it.
pub(crate) fn interrupted(interrupt: &Interrupt) -> ChainEnd {
    match interrupt.deadline() {
        Some(deadline) if deadline <= Instant::now() => status::timeout().into(),
        _ => ChainEnd::Unfinished(UnfinishedEvaluation::Interrupted),
    }
}
