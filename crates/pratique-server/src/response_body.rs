//! Responses that clients have not read yet.
//!
//! A client of HTTP/2 can send requests without reading responses, and a client of HTTP/1 can stop reading. Unread
//! responses keep their share of the memory, and their connections are closed after a timeout, or earlier if other
//! requests need the memory.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::sleep;

use crate::budget::{BudgetShare, MemoryPressure, WaitingClient};
use crate::connections::TrackedConnection;
use crate::context::ServerContext;
use crate::refusal_metrics;
use crate::respond::{HttpResponse, too_many_requests};
use crate::routes;
use crate::throttle::LogThrottle;

/// The memory of a request besides its body and its evaluation, in bytes: its head, its stream, its state.
const REQUEST: usize = 8 << 10;
/// The interval of checks for unread responses.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The size of the parts in which a response is encrypted and sent.
const PART: usize = 64 << 10;
/// After this many bytes, the task yields, so that other connections of its thread, such as probes, are served.
const YIELD_AFTER: usize = 4 * PART;

/// The body of a response, in parts. It keeps its share of the memory until the last part is sent.
#[derive(Debug)]
pub struct ResponseBody {
    left: Bytes,
    /// The number of bytes since the last yield.
    sent: usize,
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        if self.sent >= YIELD_AFTER {
            self.sent = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let length = self.left.len().min(PART);
        self.sent += length;
        Poll::Ready(Some(Ok(Frame::data(self.left.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

/// The bytes of a response with their shares of the memory.
struct UnsentBytes {
    bytes: Bytes,
    _shares: (Option<BudgetShare>, Option<Arc<BudgetShare>>),
    connection: Arc<TrackedConnection>,
}

impl Drop for UnsentBytes {
    fn drop(&mut self) {
        self.connection.exchange.answer();
    }
}

impl AsRef<[u8]> for UnsentBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reserves the memory of a request; `None` for a health check if there is no memory left. Otherwise the connection is
/// closed after its current requests, as it could accumulate responses.
///
/// # Errors
/// The error response if there is no memory left.
pub(crate) fn reserve<B>(
    request: &Request<B>,
    connection: &TrackedConnection,
    context: &ServerContext,
) -> Result<Option<BudgetShare>, Box<HttpResponse>> {
    match context.budget.share(REQUEST) {
        Ok(share) => Ok(Some(share)),
        Err(_) if routes::is_health(request.uri().path()) => Ok(None),
        Err(_) => {
            connection.close();
            let answer = too_many_requests();
            if routes::is_review(request.uri().path()) {
                refusal_metrics::record(&answer, &context.metrics);
            }
            Err(answer.into())
        }
    }
}

/// Attaches the share of the request and that of the evaluation, if any, to a response.
pub(crate) fn attach(
    answer: HttpResponse,
    share: Option<BudgetShare>,
    connection: &Arc<TrackedConnection>,
) -> Response<ResponseBody> {
    let (mut head, mut bytes) = answer.into_parts();
    let evaluated = head.extensions.remove::<Arc<BudgetShare>>();
    let waits = || WaitingClient::Reading(connection.clone());
    if let Some(share) = &share {
        if evaluated.is_none() && share.resize(REQUEST.saturating_add(bytes.len())).is_err() {
            (head, bytes) = too_many_requests().into_parts();
        }
        share.wait_for(waits());
    }
    if let Some(evaluated) = &evaluated {
        evaluated.wait_for(waits());
    }
    let unsent = UnsentBytes {
        bytes,
        _shares: (share, evaluated),
        connection: connection.clone(),
    };
    let parts = ResponseBody {
        left: Bytes::from_owner(unsent),
        sent: 0,
    };
    Response::from_parts(head, parts)
}

/// Closes connections whose clients take too long to read responses, and logs a lack of memory, at a limited rate.
pub(crate) async fn expire(context: &ServerContext) {
    let (mut log, mut pressure) = (LogThrottle::default(), MemoryPressure::default());
    loop {
        context.budget.expire(context.limits.response_timeout);
        let more = context.budget.pressure();
        pressure.refused += more.refused;
        pressure.evicted += more.evicted;
        if pressure != MemoryPressure::default() && log.permits().is_some() {
            let MemoryPressure { refused, evicted } = std::mem::take(&mut pressure);
            tracing::warn!(
                refused,
                evicted,
                "Too little memory for all requests: see --max-memory"
            );
        }
        sleep(CHECK_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn large_responses_are_sent_in_parts() {
        let whole: Vec<u8> = (0..5 * YIELD_AFTER / 2 + 1).map(|at| (at % 251) as u8).collect();
        let mut body = ResponseBody {
            left: whole.clone().into(),
            sent: 0,
        };
        let (mut sent, mut yields) = (Vec::new(), 0);
        while !body.is_end_stream() {
            assert_eq!(body.size_hint().exact(), Some((whole.len() - sent.len()) as u64));
            let part = poll_fn(|context| {
                let polled = Pin::new(&mut body).poll_frame(context);
                yields += usize::from(polled.is_pending());
                polled
            });
            let part = part.await.unwrap().unwrap().into_data().unwrap();
            assert!(part.len() <= PART);
            sent.extend_from_slice(&part);
        }
        assert_eq!(
            (sent == whole, yields),
            (true, 2),
            "everything is sent, and the task yields"
        );
    }
}
