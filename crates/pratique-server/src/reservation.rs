//! The memory that a request has reserved, before it takes it.

use std::time::{Duration, Instant};

use http::StatusCode;

use crate::budget::Share;
use crate::largest::Alone;
use crate::respond::{Answer, busy, failure};
use crate::server::Shared;

/// What a request has of the budget, for its body and what comes of it.
pub(crate) struct Reservation<'r> {
    shared: &'r Shared,
    share: &'r Share,
    /// How many bytes the body has.
    body: usize,
    /// It takes so much that it goes on alone.
    alone: Option<Alone>,
    /// How long it may wait for memory.
    until: Instant,
}

impl<'r> Reservation<'r> {
    /// For a request whose body has so many bytes.
    pub(crate) fn new(shared: &'r Shared, share: &'r Share, body: usize) -> Self {
        Reservation {
            shared,
            share,
            body,
            alone: None,
            until: Instant::now() + shared.limits.turn,
        }
    }

    /// Waits until no other request takes as much as this one may, if that is more than half of what one may have.
    ///
    /// # Errors
    /// 429: too many wait, or for too long.
    pub(crate) async fn wait_for_others(&mut self, besides: usize) -> Result<(), Box<Answer>> {
        let needed = self.body.saturating_add(besides);
        if needed > self.shared.limits.request_memory() / 2 {
            let alone = self.shared.largest.enter(self.left()).await;
            self.alone = Some(alone.ok_or_else(|| self.refused())?);
        }
        Ok(())
    }

    /// Reserves so many bytes besides the body, in place of what was reserved before.
    ///
    /// # Errors
    /// 413: it is more than one request may have; 429: there is not as much left.
    pub(crate) async fn reserve(&self, besides: usize) -> Result<(), Box<Answer>> {
        let (needed, most) = (
            self.body.saturating_add(besides),
            self.shared.limits.request_memory(),
        );
        if needed > most {
            let message = format!(
                "Request entity too large: evaluating it may take {} MiB of memory, limit is {} MiB",
                needed >> 20,
                most >> 20
            );
            let code = StatusCode::PAYLOAD_TOO_LARGE;
            return Err(failure(code, "RequestEntityTooLarge", message).into());
        }
        let reserved = match &self.alone {
            Some(_) => self.share.resize_within(needed, self.left()).await,
            None => self.share.resize(needed),
        };
        reserved.map_err(|_| busy().into())
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    fn refused(&self) -> Box<Answer> {
        self.shared.budget.refuse();
        busy().into()
    }
}
