//! Reading of request bodies, within limits of size and memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::budget::{BudgetExhausted, BudgetShare, WaitingClient};

/// The maximum number of bytes of a too large body that are read and discarded, so that its sender reads the response.
const MAX_DRAINED: usize = 64 << 20;
/// After this many bytes, the task yields, so that other connections of its thread, such as probes, are served.
const YIELD_AFTER: usize = 64 << 10;
/// The pause after so many bytes of a discarded body, which must not take the processor from other requests.
const DRAIN_PAUSE: Duration = Duration::from_millis(1);
const PAUSE_AFTER: usize = 64 << 10;

/// A failure to read a body.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The body exceeds the limit.
    TooLarge,
    /// The body took too long.
    Slow,
    /// There is no memory for the body.
    NoMemory,
    /// The body arrived slowly, and its memory was needed for other requests.
    Evicted,
    /// The client closed the connection.
    Broken,
}

impl From<BudgetExhausted> for BodyError {
    fn from(_: BudgetExhausted) -> Self {
        BodyError::NoMemory
    }
}

/// Reads a body. The share of the memory grows with it.
pub(crate) async fn read(
    mut body: impl Body<Data = Bytes> + Unpin,
    share: &BudgetShare,
    limit: usize,
) -> Result<Vec<u8>, BodyError> {
    let announced = body.size_hint();
    if announced.lower() > limit as u64 {
        drain(body, MAX_DRAINED).await;
        return Err(BodyError::TooLarge);
    }
    let most = announced.upper().and_then(|upper| usize::try_from(upper).ok());
    let evicted = Arc::new(Notify::new());
    share.wait_for(WaitingClient::Sending(evicted.clone()));
    let (mut bytes, mut yield_at) = (Vec::new(), YIELD_AFTER);
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = evicted.notified() => return Err(BodyError::Evicted),
        };
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        let length = bytes.len() + data.len();
        if length > limit {
            drop(bytes);
            share.resize(0)?;
            drain(body, MAX_DRAINED).await;
            return Err(BodyError::TooLarge);
        }
        if length > bytes.capacity() {
            // The capacity doubles, as usual, up to the announced size.
            let capacity = length.next_power_of_two().min(most.unwrap_or(limit)).max(length);
            share.resize(capacity)?;
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&data);
        if bytes.len() >= yield_at {
            yield_at = bytes.len() + YIELD_AFTER;
            yield_now().await;
        }
    }
    if share.proceed() {
        Ok(bytes)
    } else {
        Err(BodyError::Evicted)
    }
}

/// Reads and discards the rest of a body, up to `most` bytes: a client that is still sending does not read the response.
pub(crate) async fn drain(mut body: impl Body<Data = Bytes> + Unpin, most: usize) {
    let (mut drained, mut pause_at) = (0, PAUSE_AFTER);
    while let Some(Ok(frame)) = body.frame().await {
        drained += frame.data_ref().map_or(0, Bytes::len);
        if drained > most {
            break;
        }
        // By bytes: how large parts are depends on who sends, and on how much is read at once.
        if drained >= pause_at {
            pause_at = drained + PAUSE_AFTER;
            sleep(DRAIN_PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};

    use hyper::body::Frame;
    use tokio::time::Instant;

    use super::*;
    use crate::budget::RequestBudget;

    /// A body of this many parts of 1 KiB, which are ready at once.
    struct Parts(u32);

    impl Body for Parts {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let left = self.0.checked_sub(1);
            self.0 = left.unwrap_or_default();
            Poll::Ready(left.map(|_| Ok(Frame::data(Bytes::from_static(&[b' '; 1024])))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_forgotten_is_taken_slowly_and_not_without_end() {
        let start = Instant::now();
        drain(Parts(20 * 64), usize::MAX).await;
        let pauses = start.elapsed().div_duration_f64(DRAIN_PAUSE);
        assert!((20.0..=42.0).contains(&pauses), "{pauses}");
        drain(Parts(u32::MAX), 20 * PAUSE_AFTER).await;
    }

    /// A body that is always ready does not block other tasks of its thread.
    #[tokio::test]
    async fn others_have_their_turn_while_a_body_is_read() {
        let budget = Arc::new(RequestBudget::new(64 << 20));
        let share = budget.share(0).unwrap();
        let yields = Arc::new(AtomicUsize::new(0));
        let counted = yields.clone();
        let others = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        });
        let bytes = read(Parts(4096), &share, usize::MAX).await;
        assert_eq!(bytes.unwrap().len(), 4 << 20);
        let yields = yields.load(Ordering::Relaxed);
        assert!(yields >= (4 << 20) / YIELD_AFTER - 1, "{yields}");
        others.abort();
    }
}
