//! Reads bodies, but not more than may be, not longer than may be, and not all at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::budget::{Client, Exhausted, Share};

/// How much of a body that is too large is taken in and forgotten, so that its sender gets to read the answer.
const FORGOTTEN: usize = 64 << 20;
/// After how many bytes of a body others have their turn: probes wait for those that send much at the same time.
const TURN: usize = 64 << 10;
/// Between two parts of what is forgotten: whoever sends too much waits for the others, who want the processor.
const PACE: Duration = Duration::from_millis(1);

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is larger than it may be.
    TooLarge,
    /// It takes too long.
    Slow,
    /// There is no memory for it.
    Busy,
    /// There was no memory for others, and it arrived slowly.
    Evicted,
    /// The client broke off.
    Broken,
}

impl From<Exhausted> for Unread {
    fn from(_: Exhausted) -> Self {
        Unread::Busy
    }
}

/// Reads a body, with which its share of the memory grows.
pub(crate) async fn read(
    body: impl Body<Data = Bytes> + Unpin,
    share: &Share,
    limit: usize,
    time: Duration,
) -> Result<Vec<u8>, Unread> {
    timeout(time, collect(body, share, limit))
        .await
        .unwrap_or(Err(Unread::Slow))
}

async fn collect(
    mut body: impl Body<Data = Bytes> + Unpin,
    share: &Share,
    limit: usize,
) -> Result<Vec<u8>, Unread> {
    let announced = body.size_hint();
    if announced.lower() > limit as u64 {
        forget(body, FORGOTTEN).await;
        return Err(Unread::TooLarge);
    }
    let most = announced.upper().and_then(|own| usize::try_from(own).ok());
    let evicted = Arc::new(Notify::new());
    share.wait_for(Client::Sending(evicted.clone()));
    let (mut bytes, mut turn) = (Vec::new(), TURN);
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = evicted.notified() => return Err(Unread::Evicted),
        };
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        let length = bytes.len() + data.len();
        if length > limit {
            drop(bytes);
            share.resize(0)?;
            forget(body, FORGOTTEN).await;
            return Err(Unread::TooLarge);
        }
        if length > bytes.capacity() {
            // It doubles, as vectors do, up to what the client announced.
            let capacity = length.next_power_of_two().min(most.unwrap_or(limit)).max(length);
            share.resize(capacity)?;
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&data);
        if bytes.len() >= turn {
            turn = bytes.len() + TURN;
            yield_now().await;
        }
    }
    match share.proceed() {
        true => Ok(bytes),
        false => Err(Unread::Evicted),
    }
}

/// Takes in the rest of a body, up to so many bytes: who is still sending does not read what is answered.
pub(crate) async fn forget(mut body: impl Body<Data = Bytes> + Unpin, most: usize) {
    let mut forgotten = 0;
    while let Some(Ok(frame)) = body.frame().await {
        forgotten += frame.data_ref().map_or(0, Bytes::len);
        if forgotten > most {
            break;
        }
        sleep(PACE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};
    use std::time::Instant;

    use hyper::body::Frame;

    use super::*;
    use crate::budget::Budget;

    /// A body of so many parts of 1 KiB, all of which are there at once.
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

    #[tokio::test]
    async fn what_is_forgotten_is_taken_slowly_and_not_without_end() {
        let start = Instant::now();
        forget(Parts(20), usize::MAX).await;
        assert!(start.elapsed() >= 20 * PACE);
        forget(Parts(u32::MAX), 20 * 1024).await;
    }

    /// A body that arrives as fast as it is read keeps nothing else on its thread waiting.
    #[tokio::test]
    async fn others_have_their_turn_while_a_body_is_read() {
        let budget = Arc::new(Budget::new(64 << 20));
        let share = budget.share(0).unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = turns.clone();
        let others = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        });
        let read = read(Parts(4096), &share, usize::MAX, Duration::from_secs(60)).await;
        assert_eq!(read.unwrap().len(), 4 << 20);
        let turns = turns.load(Ordering::Relaxed);
        assert!(turns >= (4 << 20) / TURN - 1, "{turns}");
        others.abort();
    }
}
