//! Answers that clients have not read yet.
//!
//! HTTP/2 lets a client ask without taking what is answered, and so does a reader of HTTP/1 that stops. What waits for
//! them holds its share of the memory, and their connections are closed when they take too long, or when others need it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::sleep;

use crate::budget::{Client, Pressure, Share};
use crate::connections::Slot;
use crate::context::ServerContext;
use crate::refused;
use crate::respond::{Answer, busy};
use crate::routes;
use crate::throttle::Throttle;

/// What a request takes besides its body and its evaluation: its head, its stream, the state of its handling.
const REQUEST: usize = 8 << 10;
/// How often to look for answers that wait for too long.
const EVERY: Duration = Duration::from_secs(1);

/// How much of an answer is encrypted and sent at once.
const PART: usize = 64 << 10;
/// After how many bytes others have their turn: probes wait for those that read much at the same time.
const TURN: usize = 4 * PART;

/// An answer that is to be sent.
pub(crate) type Sending = Response<AnswerBody>;

/// The body of an answer, in parts. It holds its share of the memory until the last one is sent.
#[derive(Debug)]
pub struct AnswerBody {
    left: Bytes,
    /// How many bytes were sent since others had their turn.
    sent: usize,
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        if self.sent >= TURN {
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

/// An answer's bytes. They hold their shares of the memory until the last of them is sent.
struct Unsent {
    bytes: Bytes,
    _shares: (Option<Share>, Option<Arc<Share>>),
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The share of a request; `None` for a health check that there is no share for. Without one, a connection that could pile
/// up answers ends.
///
/// # Errors
/// The answer where there is no memory left.
pub(crate) fn share<B>(
    request: &Request<B>,
    slot: &Slot,
    shared: &ServerContext,
) -> Result<Option<Share>, Box<Answer>> {
    match shared.budget.share(REQUEST) {
        Ok(share) => Ok(Some(share)),
        Err(_) if routes::is_health(request.uri().path()) => Ok(None),
        Err(_) => {
            slot.leave();
            let answer = busy();
            if routes::is_review(request.uri().path()) {
                refused::count(&answer, &shared.metrics);
            }
            Err(answer.into())
        }
    }
}

/// An answer, with the share of its request and its own, if it has one.
pub(crate) fn send(answer: Answer, share: Option<Share>, slot: &Arc<Slot>) -> Sending {
    let (mut head, mut bytes) = answer.into_parts();
    let evaluated = head.extensions.remove::<Arc<Share>>();
    let waits = || Client::Reading(slot.clone());
    if let Some(share) = &share {
        if evaluated.is_none() && share.resize(REQUEST.saturating_add(bytes.len())).is_err() {
            (head, bytes) = busy().into_parts();
        }
        share.wait_for(waits());
    }
    if let Some(evaluated) = &evaluated {
        evaluated.wait_for(waits());
    }
    let unsent = Unsent {
        bytes,
        _shares: (share, evaluated),
    };
    let parts = AnswerBody {
        left: Bytes::from_owner(unsent),
        sent: 0,
    };
    Response::from_parts(head, parts)
}

/// Closes connections whose clients take too long to read answers, and tells of too little memory, but not all the time.
pub(crate) async fn expire(shared: &ServerContext) {
    let (mut log, mut pressure) = (Throttle::default(), Pressure::default());
    loop {
        shared.budget.expire(shared.limits.answer_time);
        let more = shared.budget.pressure();
        pressure.refused += more.refused;
        pressure.evicted += more.evicted;
        if pressure != Pressure::default() && log.permits().is_some() {
            let Pressure { refused, evicted } = std::mem::take(&mut pressure);
            tracing::warn!(
                refused,
                evicted,
                "Too little memory for all requests: see --max-memory"
            );
        }
        sleep(EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn a_large_answer_is_sent_in_parts() {
        let whole: Vec<u8> = (0..5 * TURN / 2 + 1).map(|at| (at % 251) as u8).collect();
        let mut body = AnswerBody {
            left: whole.clone().into(),
            sent: 0,
        };
        let (mut sent, mut turns) = (Vec::new(), 0);
        while !body.is_end_stream() {
            assert_eq!(body.size_hint().exact(), Some((whole.len() - sent.len()) as u64));
            let part = poll_fn(|context| {
                let polled = Pin::new(&mut body).poll_frame(context);
                turns += usize::from(polled.is_pending());
                polled
            });
            let part = part.await.unwrap().unwrap().into_data().unwrap();
            assert!(part.len() <= PART);
            sent.extend_from_slice(&part);
        }
        assert_eq!(
            (sent == whole, turns),
            (true, 2),
            "all of it, and others have their turn"
        );
    }
}
