//! A server on a separate thread.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pratique_metrics::Metrics;
use pratique_server::{AdmissionHandler, ConnectionDrain, Server, ServerShutdown, Settings};
use rustls::ClientConfig;
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::certificates::Authority;
use super::handler::{DEADLINE, TestHandler};

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) health: Option<SocketAddr>,
    pub(crate) handler: Arc<TestHandler>,
    shutdown: ServerShutdown,
    handle: Handle,
    ended: Receiver<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// With usual settings, changed.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            page: true,
            ..Settings::new(Metrics::new("test"))
        };
        change(&mut settings);
        let handler = Arc::new(TestHandler::default());
        let mut running = Running::of(handler.clone(), settings);
        running.handler = handler;
        running
    }

    /// With another handler.
    pub(crate) fn of(handler: Arc<dyn AdmissionHandler>, settings: Settings) -> Self {
        let (sender, started) = channel();
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            let answered = runtime.block_on(async {
                let server = Server::bind("127.0.0.1:0".parse().unwrap(), handler, settings)
                    .await
                    .unwrap();
                let addresses = (server.address().unwrap(), server.health_address());
                sender
                    .send((addresses, server.shutdown(), Handle::current()))
                    .unwrap();
                server.run().await
            });
            // Without a receiver, the end is not waited for.
            let _ = end.send(answered);
        });
        let ((address, health), shutdown, handle) = started.recv().unwrap();
        Running {
            address,
            health,
            handler: Arc::default(),
            shutdown,
            handle,
            ended,
            thread: Some(thread),
        }
    }

    /// With a certificate, which is in the directory, and the configuration of a client that speaks HTTP/2.
    pub(crate) fn over_http2(change: impl FnOnce(&mut Settings)) -> (Self, Authority, ClientConfig, TempDir) {
        let (directory, authority) = (tempfile::tempdir().unwrap(), Authority::new());
        let server = Running::with(|settings| {
            settings.certificates = Some(authority.served_from(directory.path()));
            change(settings);
        });
        let mut config = authority.config(None);
        config.alpn_protocols = vec![b"h2".to_vec()];
        (server, authority, config, directory)
    }

    pub(crate) fn start() -> Self {
        Running::with(|_| {})
    }

    /// Begins to end it.
    pub(crate) fn end(&self, delay: Duration, grace: Duration) {
        let shutdown = self.shutdown.clone();
        self.handle
            .spawn(async move { shutdown.begin(ConnectionDrain { delay, grace }).await });
    }

    /// Waits for its end; gives whether all requests were answered.
    pub(crate) fn wait(mut self) -> bool {
        let ended = self.ended.recv_timeout(DEADLINE).expect("it does not end");
        self.thread.take().unwrap().join().unwrap();
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.end(Duration::ZERO, Duration::ZERO);
            thread.join().unwrap();
        }
    }
}
