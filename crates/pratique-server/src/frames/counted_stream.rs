//! A connection of HTTP/2 whose frames are counted while they are read.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::allowance::{AddressAllowances, FrameAllowance, SharedAllowance};
use super::parser::FrameParser;
use crate::connections::Connection;

/// How much is read at once of a connection that lives on its allowance, in bytes.
const PART: usize = 2048;
/// The longest time that such a connection waits before the next part.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A connection that is closed because of its frames.
#[derive(Debug, thiserror::Error)]
#[error("the client sends too many frames of HTTP/2 for what it was answered")]
struct FrameFlood;

/// A stream whose frames are counted.
#[derive(Debug)]
pub(crate) struct CountedStream<S> {
    stream: S,
    parser: FrameParser,
    connection: Arc<Connection>,
    allowance: FrameAllowance,
    address: SharedAllowance,
    /// Whether the last part was not paid for by answers.
    is_on_allowance: bool,
    /// Whether others have their turn before the next part.
    yields: bool,
    wait: Option<Pin<Box<Sleep>>>,
}

impl<S> CountedStream<S> {
    pub(crate) fn new(
        stream: S,
        connection: Arc<Connection>,
        (addresses, address): (&AddressAllowances, IpAddr),
    ) -> Self {
        CountedStream {
            stream,
            parser: FrameParser::new(),
            connection,
            allowance: FrameAllowance::of_connection(),
            address: addresses.of_address(address),
            is_on_allowance: false,
            yields: false,
            wait: None,
        }
    }

    /// Counts the frames of what was read.
    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        let credits = &self.connection.frames;
        let cost = self.parser.cost(bytes, credits.open_requests());
        let owed = credits.pay(cost);
        self.is_on_allowance = owed > 0;
        if owed == 0 {
            return Ok(());
        }
        if !self.allowance.take(owed).is_zero() {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, FrameFlood));
        }
        self.yields = true;
        let mut address = self.address.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = address.take(owed);
        self.wait = (!wait.is_zero()).then(|| Box::pin(sleep(wait.min(MAX_WAIT))));
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(wait) = &mut this.wait {
            ready!(wait.as_mut().poll(context));
            this.wait = None;
        }
        if std::mem::take(&mut this.yields) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let stream = Pin::new(&mut this.stream);
        if this.is_on_allowance {
            // Frames that are in the buffer are handled without a pause, so there are few.
            let mut part = [0; PART];
            let length = PART.min(buffer.remaining());
            let mut part = ReadBuf::new(part.get_mut(..length).unwrap_or_default());
            ready!(stream.poll_read(context, &mut part))?;
            this.count(part.filled())?;
            buffer.put_slice(part.filled());
        } else {
            let before = buffer.filled().len();
            ready!(stream.poll_read(context, buffer))?;
            this.count(buffer.filled().get(before..).unwrap_or_default())?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
