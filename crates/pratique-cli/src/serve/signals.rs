//! Signals that end the server.

use std::time::Duration;

use pratique_server::{Drain, Shutdown};

/// Waits for signals, and ends the server: after a delay when the system asks, at once when a person does, and without
/// waiting for anything when somebody asks twice.
pub(super) async fn end(shutdown: Shutdown, delay: Duration, grace: Duration) {
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => return tracing::error!(err = %error, "Signals cannot be received"),
    };
    let delay = if signals.next().await {
        delay
    } else {
        Duration::ZERO
    };
    let first = shutdown.clone();
    tokio::spawn(async move { first.begin(Drain { delay, grace }).await });
    signals.next().await;
    shutdown
        .begin(Drain {
            delay: Duration::ZERO,
            grace: Duration::ZERO,
        })
        .await;
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next; tells whether it came from the system rather than a person.
    async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.terminate.recv() => true,
            _ = self.interrupt.recv() => false,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals)
    }

    async fn next(&mut self) -> bool {
        // Without a way to be told there is nothing to wait for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        false
    }
}
