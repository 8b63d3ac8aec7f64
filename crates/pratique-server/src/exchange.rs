//! How far the exchange of request and response on a connection of HTTP/1 is.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::connections::TrackedConnection;

/// How much is read at once, in bytes: hyper's buffer has 8 KiB, and would have twice as much, and keep it, after a read that
/// fills it.
const PART: usize = (8 << 10) - 1;

/// Nothing or a part of the head of a request was read.
const HEAD: u8 = 0;
/// The head was read.
const STARTED: u8 = 1;
/// The body was read to its end.
const RECEIVED: u8 = 2;
/// Nobody holds the response any more: it is written, or in a buffer.
const ANSWERED: u8 = 3;
/// All was written.
const SENT: u8 = 4;
/// Then, there was nothing to read.
const OVER: u8 = 5;

/// The stage of an exchange. Each is reached from the one before only: an exchange that takes another course, such as one whose
/// body is not read, is never over.
#[derive(Debug, Default)]
pub(crate) struct ExchangeStage(AtomicU8);

impl ExchangeStage {
    /// The connection waits for the next request.
    pub(crate) fn begin(&self) {
        self.0.store(HEAD, Ordering::Relaxed);
    }

    /// A head was read.
    pub(crate) fn start(&self) {
        self.0.store(STARTED, Ordering::Relaxed);
    }

    /// The body was read to its end.
    pub(crate) fn receive(&self) {
        self.advance(STARTED, RECEIVED);
    }

    /// The bytes of the response are not needed any more.
    pub(crate) fn answer(&self) {
        self.advance(RECEIVED, ANSWERED);
    }

    /// Whether the head of a request was read since the beginning.
    pub(crate) fn has_head(&self) -> bool {
        self.0.load(Ordering::Relaxed) != HEAD
    }

    /// Whether request and response are over, and the next request has not arrived.
    pub(crate) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) == OVER
    }

    fn advance(&self, from: u8, to: u8) {
        // At any other stage, it says nothing about a response.
        let _ = self
            .0
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// The stream of a connection, which follows its exchanges.
pub(crate) struct ExchangeStream {
    stream: TlsStream<TcpStream>,
    /// What was read of the next request.
    unread: Bytes,
    connection: Arc<TrackedConnection>,
}

impl ExchangeStream {
    pub(crate) fn new(stream: TlsStream<TcpStream>, connection: Arc<TrackedConnection>) -> Self {
        ExchangeStream {
            stream,
            unread: Bytes::new(),
            connection,
        }
    }

    /// With bytes that are read again: a copy, as even none of them may be a part of a large buffer.
    pub(crate) fn with_unread(mut self, unread: &[u8]) -> Self {
        self.unread = Bytes::copy_from_slice(unread);
        self
    }

    /// Waits until something can be read, after there was nothing.
    pub(crate) fn poll_arrival(&self, context: &mut Context<'_>) -> Poll<()> {
        if !self.unread.is_empty() {
            return Poll::Ready(());
        }
        // An error is met again by reading.
        self.stream.get_ref().0.poll_read_ready(context).map(drop)
    }

    /// Closes it, as hyper does between requests.
    pub(crate) fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn stage(&self) -> &ExchangeStage {
        &self.connection.exchange
    }
}

impl AsyncRead for ExchangeStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let room = buffer.remaining().min(PART);
        if !this.unread.is_empty() {
            let part = this.unread.split_to(room.min(this.unread.len()));
            buffer.put_slice(&part);
            return Poll::Ready(Ok(()));
        }
        let Poll::Ready(read) = Pin::new(&mut this.stream).poll_fill_buf(context) else {
            this.connection.exchange.advance(SENT, OVER);
            return Poll::Pending;
        };
        // Of the next request.
        this.connection.exchange.advance(SENT, HEAD);
        let bytes = read?;
        let part = bytes.get(..room).unwrap_or(bytes);
        let length = part.len();
        buffer.put_slice(part);
        Pin::new(&mut this.stream).consume(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ExchangeStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stage().advance(SENT, ANSWERED);
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stage().advance(SENT, ANSWERED);
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.stage().advance(ANSWERED, SENT);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.exchange.start();
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
