//! The end of a server, step by step.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// How a server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    /// How long it goes on after saying that it is not ready any more, so that others hear of it before it is gone.
    /// Clients of HTTP/1 are asked to leave meanwhile, one by one.
    pub delay: Duration,
    /// How long requests that have begun may then take.
    pub grace: Duration,
}

/// Ends a server; copies end the same one.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<watch::Sender<Stage>>);

/// How far a server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Stage {
    /// It serves.
    Serving,
    /// It serves, but wishes that nobody came any more.
    Leaving,
    /// Connections end with the requests that they have, which may take so long.
    Closing(Duration),
}

impl Shutdown {
    /// Of a server that has not started.
    #[must_use]
    pub fn new() -> Self {
        Shutdown(Arc::new(watch::Sender::new(Stage::Serving)))
    }

    /// Begins to end the server, and waits until it takes no new connections any more. A second call need not wait for
    /// the first one's delay.
    pub async fn begin(&self, drain: Drain) {
        tracing::info!(delay = ?drain.delay, grace = ?drain.grace, "Shutting down");
        self.0.send_replace(Stage::Leaving);
        tokio::time::sleep(drain.delay).await;
        self.0.send_replace(Stage::Closing(drain.grace));
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Stage> {
        self.0.subscribe()
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown::new()
    }
}

/// Waits until connections are to end; gives the time that this may take.
pub(crate) async fn closing(stage: &mut watch::Receiver<Stage>) -> Duration {
    let is_closing = |stage: &Stage| matches!(stage, Stage::Closing(_));
    let reached = stage.wait_for(is_closing).await.map(|stage| *stage);
    match reached {
        Ok(Stage::Closing(grace)) => grace,
        // Without anybody who could end the server it does not end.
        _ => std::future::pending().await,
    }
}
