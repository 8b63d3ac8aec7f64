//! A server on a separate thread.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use pratique_metrics::Metrics;
use pratique_server::{AdmissionHandler, Drain, Server, Settings, Shutdown};
use tokio::runtime::Handle;

use super::handler::TestHandler;

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) health: Option<SocketAddr>,
    pub(crate) handler: Arc<TestHandler>,
    shutdown: Shutdown,
    handle: Handle,
    thread: Option<JoinHandle<bool>>,
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
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind("127.0.0.1:0".parse().unwrap(), handler, settings)
                    .await
                    .unwrap();
                let addresses = (server.address().unwrap(), server.health_address());
                tell.send((addresses, server.shutdown(), Handle::current()))
                    .unwrap();
                server.run().await
            })
        });
        let ((address, health), shutdown, handle) = told.recv().unwrap();
        Running {
            address,
            health,
            handler: Arc::default(),
            shutdown,
            handle,
            thread: Some(thread),
        }
    }

    pub(crate) fn start() -> Self {
        Running::with(|_| {})
    }

    /// Begins to end it.
    pub(crate) fn end(&self, delay: Duration, grace: Duration) {
        let shutdown = self.shutdown.clone();
        self.handle
            .spawn(async move { shutdown.begin(Drain { delay, grace }).await });
    }

    /// Waits for its end; tells whether all requests were answered.
    pub(crate) fn wait(mut self) -> bool {
        self.thread.take().unwrap().join().unwrap()
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
