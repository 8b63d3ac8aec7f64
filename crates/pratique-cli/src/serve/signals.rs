//! Signals that end the server.

use std::io;
use std::process;
use std::thread;
use std::time::Duration;

use pratique_server::{Drain, Shutdown};
use tokio::runtime;
use tokio::time::sleep;

/// Ends the server on signals: after the delay when the system asks, at once when a person does, and without waiting
/// for requests on the second signal.
///
/// This goes on in a thread of its own, and ends the process when the server did not do so `last` after its time, so that
/// nothing that blocks the server keeps it from ending.
pub(super) fn start(shutdown: Shutdown, drain: Drain, last: Duration) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _runtime = runtime.enter();
        Signals::new()?
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(end(signals, shutdown, drain, last));
            tracing::error!("The server did not end in time: it is ended");
            // The thread that writes the log gets a chance to.
            thread::sleep(Duration::from_millis(50));
            process::exit(1)
        })
        .map(drop)
}

/// Waits until the server should have ended.
async fn end(mut signals: Signals, shutdown: Shutdown, drain: Drain, last: Duration) {
    let delay = match signals.next().await {
        true => drain.delay,
        false => Duration::ZERO,
    };
    let first = shutdown.clone();
    let grace = drain.grace;
    tokio::spawn(async move { first.begin(Drain { delay, grace }).await });
    tokio::select! {
        () = sleep(delay.saturating_add(grace).saturating_add(last)) => return,
        _ = signals.next() => {}
    }
    let now = Drain {
        delay: Duration::ZERO,
        grace: Duration::ZERO,
    };
    shutdown.begin(now).await;
    sleep(last).await;
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
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
    fn new() -> io::Result<Self> {
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
