//! The reservation of memory for a request, before it is allocated.

use std::time::{Duration, Instant};

use http::StatusCode;

use crate::budget::BudgetShare;
use crate::context::ServerContext;
use crate::large_requests::ExclusivePermit;
use crate::respond::{HttpResponse, failure, too_many_requests};

/// The memory that is reserved for the body and the evaluation of a request.
pub(crate) struct MemoryReservation<'r> {
    context: &'r ServerContext,
    share: &'r BudgetShare,
    /// The size of the body, in bytes.
    body: usize,
    /// The permit of a large request.
    permit: Option<ExclusivePermit>,
    /// The end of waiting for memory.
    until: Instant,
}

impl<'r> MemoryReservation<'r> {
    /// A reservation for a request with a body of this size.
    pub(crate) fn new(context: &'r ServerContext, share: &'r BudgetShare, body: usize) -> Self {
        MemoryReservation {
            context,
            share,
            body,
            permit: None,
            until: Instant::now() + context.limits.queue_timeout,
        }
    }

    /// Waits until no other large request is evaluated, if this one may need more than half of the maximum.
    ///
    /// # Errors
    /// 429: too many requests wait, or for too long.
    pub(crate) async fn wait_for_large_requests(&mut self, besides: usize) -> Result<(), Box<HttpResponse>> {
        let needed = self.body.saturating_add(besides);
        if needed > self.context.limits.request_memory() / 2 {
            let permit = self.context.large_requests.acquire(self.left()).await;
            self.permit = Some(permit.ok_or_else(|| self.refused())?);
        }
        Ok(())
    }

    /// Reserves memory besides the body, instead of the previous reservation.
    ///
    /// # Errors
    /// 413: it is more than the maximum of one request; 429: there is not enough memory left.
    pub(crate) async fn reserve(&self, besides: usize) -> Result<(), Box<HttpResponse>> {
        let (needed, most) = (
            self.body.saturating_add(besides),
            self.context.limits.request_memory(),
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
        let reserved = match &self.permit {
            Some(_) => self.share.resize_within(needed, self.left()).await,
            None => self.share.resize(needed),
        };
        reserved.map_err(|_| too_many_requests().into())
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    fn refused(&self) -> Box<HttpResponse> {
        self.context.budget.refuse();
        too_many_requests().into()
    }
}
