//! A server on a separate thread.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use pratique_metrics::Metrics;
use pratique_server::{Drain, Reviewer, Server, Settings, Shutdown};
use tokio::runtime::Handle;

use super::reviewer::TestReviewer;

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) health: Option<SocketAddr>,
    pub(crate) reviewer: Arc<TestReviewer>,
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
        let reviewer = Arc::new(TestReviewer::default());
        let mut running = Running::of(reviewer.clone(), settings);
        running.reviewer = reviewer;
        running
    }

    /// With another reviewer.
    pub(crate) fn of(reviewer: Arc<dyn Reviewer>, settings: Settings) -> Self {
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind("127.0.0.1:0".parse().unwrap(), reviewer, settings)
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
            reviewer: Arc::default(),
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
