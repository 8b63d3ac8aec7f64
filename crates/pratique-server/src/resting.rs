//! A connection of HTTP/1 that keeps little between requests.
//!
//! hyper's state of a connection has buffers of at least 8 KiB each for reading and for writing. With a thousand connections that
//! wait for requests, it would be most of the memory of the server. So it is dropped when an exchange is over, and made again when
//! the next request arrives; what stays is the TLS session.

use std::future::Future;
use std::mem::replace;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::server::TlsStream;

use crate::backlog::{BacklogPlace, PendingPlace};
use crate::connection::RequestService;
use crate::connections::TrackedConnection;
use crate::context::ServerContext;
use crate::exchange::ExchangeStream;

type HttpState<S> = http1::Connection<TokioIo<ExchangeStream>, S>;

/// A connection, which serves one request after the other.
pub(crate) struct RestingConnection<S: RequestService> {
    stage: ConnectionStage<S>,
    builder: http1::Builder,
    connection: Arc<TrackedConnection>,
    server: Arc<ServerContext>,
    /// The end of waiting for the head of the next request, which begins with the end of the last one. It stays for the next ones:
    /// a timer that is put off takes no lock.
    head_end: Option<Pin<Box<Sleep>>>,
    /// Whether the head of the request after the last one is missing.
    waits_for_head: bool,
    /// Whether it ends with the current request, and whether hyper's state knows.
    is_last: bool,
    is_told: bool,
}

enum ConnectionStage<S: RequestService> {
    Serving(Box<HttpState<S>>),
    Resting(ExchangeStream, S),
    Waiting(ExchangeStream, S, PendingPlace),
    Closing(ExchangeStream),
    Ended,
}

impl<S: RequestService> RestingConnection<S> {
    pub(crate) fn new(
        stream: TlsStream<TcpStream>,
        service: S,
        builder: http1::Builder,
        connection: Arc<TrackedConnection>,
        server: Arc<ServerContext>,
    ) -> Self {
        let stream = ExchangeStream::new(stream, connection.clone());
        let http = builder.serve_connection(TokioIo::new(stream), service);
        RestingConnection {
            stage: ConnectionStage::Serving(Box::new(http)),
            builder,
            connection,
            server,
            head_end: None,
            waits_for_head: false,
            is_last: false,
            is_told: false,
        }
    }

    /// Ends the connection after the current request, or one that has arrived.
    pub(crate) fn end_after_request(&mut self) {
        self.is_last = true;
    }

    fn poll_http(&mut self, http: &mut HttpState<S>, context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        let mut http = Pin::new(http);
        let mut polled = http.as_mut().poll(context);
        if polled.is_pending() && self.is_last && !self.is_told {
            // A request that has arrived was read before.
            self.is_told = true;
            http.as_mut().graceful_shutdown();
            polled = http.poll(context);
        }
        // Without a request, the client is slow: others need not wait for it.
        if self.connection.frames.open_requests() == 0 {
            self.connection.backlog.leave();
        }
        polled
    }

    /// Ends if the client takes too long for a head.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        self.waits_for_head &= !self.connection.exchange.has_head();
        match &mut self.head_end {
            Some(end) if self.waits_for_head => end.as_mut().poll(context).map(|()| Ok(())),
            _ => Poll::Pending,
        }
    }

    /// Drops what is only needed for requests.
    fn rest(&mut self, http: HttpState<S>) -> ConnectionStage<S> {
        let parts = http.into_parts();
        let stream = parts.io.into_inner().with_unread(&parts.read_buf);
        self.connection.exchange.begin();
        let time = self.server.limits.head_timeout;
        self.waits_for_head = true;
        match &mut self.head_end {
            Some(end) => end.as_mut().reset(Instant::now() + time),
            None => self.head_end = Some(Box::pin(sleep(time))),
        }
        ConnectionStage::Resting(stream, parts.service)
    }

    /// Has a request that has arrived read, once it has a place.
    fn admit(&self, stream: ExchangeStream, service: S) -> ConnectionStage<S> {
        match self.server.backlog.enter(&self.connection) {
            Ok(place) => self.serve(stream, service, Some(place)),
            Err(waiting) => ConnectionStage::Waiting(stream, service, waiting),
        }
    }

    fn serve(&self, stream: ExchangeStream, service: S, place: Option<BacklogPlace>) -> ConnectionStage<S> {
        if let Some(place) = place {
            self.connection.backlog.hold(place);
        }
        let http = self.builder.serve_connection(TokioIo::new(stream), service);
        ConnectionStage::Serving(Box::new(http))
    }
}

impl<S: RequestService> Future for RestingConnection<S> {
    type Output = hyper::Result<()>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        let this = self.get_mut();
        loop {
            let waits;
            (this.stage, waits) = match replace(&mut this.stage, ConnectionStage::Ended) {
                ConnectionStage::Serving(mut http) => match this.poll_http(&mut http, context) {
                    Poll::Ready(ended) => return Poll::Ready(ended),
                    Poll::Pending if this.connection.exchange.is_over() => (this.rest(*http), false),
                    Poll::Pending => (ConnectionStage::Serving(http), true),
                },
                ConnectionStage::Resting(stream, service) => match stream.poll_arrival(context) {
                    Poll::Ready(()) => (this.admit(stream, service), false),
                    Poll::Pending if this.is_last => (ConnectionStage::Closing(stream), false),
                    Poll::Pending => (ConnectionStage::Resting(stream, service), true),
                },
                ConnectionStage::Waiting(stream, service, mut waiting) => {
                    match Pin::new(&mut waiting).poll(context) {
                        Poll::Ready(place) => {
                            // The client was not slow.
                            if let Some(end) = &mut this.head_end {
                                let later = end.deadline() + place.waited;
                                end.as_mut().reset(later);
                            }
                            (this.serve(stream, service, Some(place)), false)
                        }
                        Poll::Pending if this.is_last => (this.serve(stream, service, None), false),
                        Poll::Pending => {
                            this.stage = ConnectionStage::Waiting(stream, service, waiting);
                            return Poll::Pending;
                        }
                    }
                }
                ConnectionStage::Closing(mut stream) => {
                    let closed = stream.poll_close(context).is_ready();
                    if closed {
                        return Poll::Ready(Ok(()));
                    }
                    this.stage = ConnectionStage::Closing(stream);
                    return Poll::Pending;
                }
                ConnectionStage::Ended => return Poll::Ready(Ok(())),
            };
            if waits {
                return this.poll_head(context);
            }
        }
    }
}
