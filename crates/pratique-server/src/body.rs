//! Reads bodies, but not more than may be, not longer than may be, and not all at once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// What memory is counted in.
const UNIT: usize = 1024;
/// How much of a body that is too large is taken in and forgotten, so that its sender gets to read the answer.
const FORGOTTEN: usize = 64 << 20;
/// Between two parts of what is forgotten: whoever sends too much waits for the others, who want the processor.
const PACE: Duration = Duration::from_millis(1);

/// Memory for all bodies together.
#[derive(Debug)]
pub(crate) struct Memory(Arc<Semaphore>);

/// A body, and its share of the memory.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) bytes: Vec<u8>,
    _share: Option<OwnedSemaphorePermit>,
}

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is larger than it may be.
    TooLarge,
    /// It takes too long.
    Slow,
    /// There is no memory for it.
    Busy,
    /// The client broke off.
    Broken,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Memory(Arc::new(Semaphore::new(
            (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS),
        )))
    }

    /// Reads a body.
    pub(crate) async fn read(&self, body: Incoming, limit: usize, time: Duration) -> Result<Read, Unread> {
        timeout(time, self.collect(body, limit))
            .await
            .unwrap_or(Err(Unread::Slow))
    }

    async fn collect(&self, mut body: Incoming, limit: usize) -> Result<Read, Unread> {
        if body.size_hint().lower() > limit as u64 {
            forget(body, FORGOTTEN).await;
            return Err(Unread::TooLarge);
        }
        let (mut bytes, mut share) = (Vec::new(), None);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > limit {
                drop((bytes, share));
                forget(body, FORGOTTEN).await;
                return Err(Unread::TooLarge);
            }
            self.grow(&mut share, bytes.len() + data.len())?;
            bytes.extend_from_slice(&data);
        }
        Ok(Read { bytes, _share: share })
    }

    /// Sees to it that the share is enough for so many bytes.
    fn grow(&self, share: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> Result<(), Unread> {
        let held = share.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        // Vectors double their size.
        let wanted = bytes.next_power_of_two().div_ceil(UNIT).saturating_sub(held);
        if wanted == 0 {
            return Ok(());
        }
        let wanted = u32::try_from(wanted).map_err(|_| Unread::Busy)?;
        let more = self
            .0
            .clone()
            .try_acquire_many_owned(wanted)
            .map_err(|_| Unread::Busy)?;
        match share {
            Some(share) => share.merge(more),
            None => *share = Some(more),
        }
        Ok(())
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
    use std::task::{Context, Poll};
    use std::time::Instant;

    use hyper::body::Frame;

    use super::*;

    /// A body of so many parts, all of which are there at once.
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
}
