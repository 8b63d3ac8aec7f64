//! What to do when the system gives no connection.

use std::io;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::connections::Connections;
use crate::throttle::Throttle;

/// How long to wait before asking again.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections that could not be accepted.
#[derive(Debug, Default)]
pub(crate) struct AcceptFailures {
    log: Throttle,
}

impl AcceptFailures {
    /// Waits until it is worth another try. Where files are what is missing, an idle connection gives up its own.
    pub(crate) async fn handle(&mut self, error: &io::Error, connections: &Connections) {
        let left = connections.one_left();
        let evicts = lacks_files(error) && connections.evict();
        if let Some(left_out) = self.log.permits() {
            tracing::warn!(err = %error, evicts, left_out, "Cannot accept a connection");
        }
        match evicts {
            // It leaves soon, or others are tried.
            true => drop(timeout(PAUSE, left).await),
            false => sleep(PAUSE).await,
        }
    }
}

/// Whether the process, or the system, has as many files open as it may.
#[cfg(unix)]
fn lacks_files(error: &io::Error) -> bool {
    use rustix::io::Errno;

    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
fn lacks_files(_: &io::Error) -> bool {
    false
}
