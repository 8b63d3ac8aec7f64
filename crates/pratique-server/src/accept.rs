//! Handling of failures to accept connections.

use std::io;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::connections::ConnectionRegistry;
use crate::throttle::LogThrottle;

/// The pause before the next attempt.
const PAUSE: Duration = Duration::from_millis(100);

/// Handles failures to accept connections.
#[derive(Debug, Default)]
pub(crate) struct AcceptFailures {
    log: LogThrottle,
}

impl AcceptFailures {
    /// Waits before the next attempt. If there are no file descriptors left, evicts an idle connection.
    pub(crate) async fn handle(&mut self, error: &io::Error, connections: &ConnectionRegistry) {
        let closed = connections.closed();
        let evicts = lacks_files(error) && connections.evict();
        if let Some(left_out) = self.log.permits() {
            tracing::warn!(err = %error, evicts, left_out, "Cannot accept a connection");
        }
        if evicts {
            // It closes soon, or the next failure evicts another one.
            drop(timeout(PAUSE, closed).await)
        } else {
            sleep(PAUSE).await
        }
    }
}

/// Whether the process or the system is out of file descriptors.
#[cfg(unix)]
fn lacks_files(error: &io::Error) -> bool {
    use rustix::io::Errno;

    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
fn lacks_files(_: &io::Error) -> bool {
    false
}
