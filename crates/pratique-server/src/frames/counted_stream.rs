//! A connection of HTTP/2 whose frames are counted while they are read.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;

use super::allowance::{AddressShare, FrameAllowance};
use super::parser::FrameParser;
use crate::backlog::{PendingPlace, RequestBacklog};
use crate::connections::TrackedConnection;

/// How much is read at once of a connection that lives on its allowance or had no review evaluated, in bytes.
const PART: usize = 2048;
/// The longest time that such a connection waits before the next part.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// How long a connection that is to be closed stays open without being read: a client that waits for it opens no other one
/// meanwhile, of which the handshake takes more than its frames.
const LINGER: Duration = Duration::from_secs(1);

/// A connection that is closed because of its frames.
#[derive(Debug, thiserror::Error)]
#[error("the client sends too many frames of HTTP/2 for what it was answered")]
struct FrameFlood;

/// A stream whose frames are counted.
#[derive(Debug)]
pub(crate) struct CountedStream {
    stream: TlsStream<TcpStream>,
    parser: FrameParser,
    connection: Arc<TrackedConnection>,
    allowance: FrameAllowance,
    address: Arc<AddressShare>,
    backlog: Arc<RequestBacklog>,
    /// Whether there was nothing more to read.
    is_drained: bool,
    /// A request that has arrived, and waits to be read.
    entering: Option<PendingPlace>,
    /// Whether it is to be closed.
    is_flood: bool,
    /// Whether others have their turn before the next part.
    yields: bool,
    wait: Option<Pin<Box<Sleep>>>,
}

impl CountedStream {
    pub(crate) fn new(
        stream: TlsStream<TcpStream>,
        connection: Arc<TrackedConnection>,
        address: Arc<AddressShare>,
        backlog: Arc<RequestBacklog>,
    ) -> Self {
        CountedStream {
            stream,
            parser: FrameParser::new(),
            connection,
            allowance: FrameAllowance::of_connection(),
            address,
            backlog,
            is_drained: false,
            entering: None,
            is_flood: false,
            yields: false,
            wait: None,
        }
    }

    /// Counts the frames of what was read; returns whether they may be handled.
    fn count(&mut self, bytes: &[u8]) -> bool {
        let credits = &self.connection.frames;
        let cost = self.parser.cost(bytes, credits.open_requests());
        let owed = credits.pay(cost);
        self.yields = self.connection.needs_turn();
        if owed == 0 {
            return true;
        }
        if !self.allowance.take(owed).is_zero() {
            self.is_flood = true;
            self.wait = Some(Box::pin(sleep(LINGER)));
            return false;
        }
        let mut address = self
            .address
            .allowance
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let wait = address.take(owed);
        self.wait = (!wait.is_zero()).then(|| Box::pin(sleep(wait.min(MAX_WAIT))));
        true
    }

    /// Waits for what arrives between requests to be read.
    fn poll_place(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let connection = &self.connection;
        let is_between = connection.frames.open_requests() == 0 && !connection.needs_turn();
        if !self.is_drained || !is_between {
            self.entering = None;
            return Poll::Ready(());
        }
        if self.entering.is_none() {
            // An error is met again by reading.
            let _ = ready!(self.stream.get_ref().0.poll_read_ready(context));
        }
        let place = match &mut self.entering {
            Some(entering) => ready!(Pin::new(entering).poll(context)),
            None => match self.backlog.enter(connection) {
                Ok(place) => place,
                Err(entering) => ready!(Pin::new(self.entering.insert(entering)).poll(context)),
            },
        };
        connection.backlog.hold(place);
        (self.entering, self.is_drained) = (None, false);
        Poll::Ready(())
    }

    /// How much is read at once, if that is bounded. Frames that are in the buffer are handled without a pause, so there are
    /// few; the rest of a payload has none.
    fn part(&self) -> Option<usize> {
        let is_bounded = self.connection.needs_turn();
        is_bounded.then(|| PART.max(self.parser.until_head()))
    }
}

impl AsyncRead for CountedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if let Some(wait) = &mut this.wait {
                ready!(wait.as_mut().poll(context));
                this.wait = None;
            }
            if this.is_flood {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, FrameFlood)));
            }
            if std::mem::take(&mut this.yields) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            ready!(this.poll_place(context));
            let (filled, part) = (buffer.filled().len(), this.part());
            let stream = Pin::new(&mut this.stream);
            if let Some(part) = part {
                let room = buffer.remaining().min(part);
                let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
                let polled = stream.poll_read(context, &mut part);
                this.is_drained = polled.is_pending();
                ready!(polled)?;
                let length = part.filled().len();
                buffer.advance(length);
            } else {
                let polled = stream.poll_read(context, buffer);
                this.is_drained = polled.is_pending();
                ready!(polled)?;
            }
            if this.count(buffer.filled().get(filled..).unwrap_or_default()) {
                return Poll::Ready(Ok(()));
            }
            // The frames of a flood are not handled any more.
            buffer.set_filled(filled);
        }
    }
}

impl AsyncWrite for CountedStream {
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
