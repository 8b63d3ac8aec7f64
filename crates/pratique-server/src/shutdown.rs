//! Graceful shutdown.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// The durations of a graceful shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionDrain {
    /// How long the server continues to serve after it reports that it is not ready, so that load balancers notice.
    /// Responses over HTTP/1 close their connections meanwhile.
    pub delay: Duration,
    /// How long current requests may take afterwards.
    pub grace: Duration,
}

/// A handle that shuts a server down. Clones are handles of the same server.
#[derive(Clone, Debug)]
pub struct ServerShutdown(Arc<watch::Sender<ServerStage>>);

/// The stage of a server's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum ServerStage {
    /// The server serves.
    Serving,
    /// The server serves, but is not ready.
    Leaving,
    /// Connections close after their current requests, within this time.
    Closing(Duration),
}

impl ServerShutdown {
    /// A handle of a server that has not started.
    #[must_use]
    pub fn new() -> Self {
        ServerShutdown(Arc::new(watch::Sender::new(ServerStage::Serving)))
    }

    /// Starts the shutdown, and returns once the server accepts no new connections. A further call may have a shorter
    /// delay.
    pub async fn begin(&self, drain: ConnectionDrain) {
        tracing::info!(delay = ?drain.delay, grace = ?drain.grace, "Shutting down");
        self.0.send_replace(ServerStage::Leaving);
        tokio::time::sleep(drain.delay).await;
        self.0.send_replace(ServerStage::Closing(drain.grace));
    }

    pub(crate) fn watch(&self) -> watch::Receiver<ServerStage> {
        self.0.subscribe()
    }
}

impl Default for ServerShutdown {
    fn default() -> Self {
        ServerShutdown::new()
    }
}

/// Waits until connections have to close. Returns the grace period.
pub(crate) async fn closing(stage: &mut watch::Receiver<ServerStage>) -> Duration {
    let is_closing = |stage: &ServerStage| matches!(stage, ServerStage::Closing(_));
    let reached = stage.wait_for(is_closing).await.map(|stage| *stage);
    match reached {
        Ok(ServerStage::Closing(grace)) => grace,
        // Without a sender, the server does not end.
        _ => std::future::pending().await,
    }
}
