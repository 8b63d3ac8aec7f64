//! Signals that shut the server down.
//!
//! SIGHUP is handled like SIGTERM: changed files are reloaded automatically, so no signal is needed for that.

use std::io;
use std::process;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use pratique_server::{ConnectionDrain, ServerShutdown};
use tokio::runtime::{self, Runtime};
use tokio::time::sleep;

/// A listener for signals, which then do not kill the process.
pub(super) struct SignalListener(SyncSender<ShutdownPlan>);

/// The server to shut down, and its timeouts.
struct ShutdownPlan {
    shutdown: ServerShutdown,
    drain: ConnectionDrain,
    /// How long the server may take after the drain.
    last: Duration,
}

/// Starts listening for signals, before the server accepts connections: clients may signal it as soon as it does.
///
/// A separate thread listens, and ends the process if the server does not shut down in time, so that a blocked server
/// ends as well.
pub(super) fn listen() -> io::Result<SignalListener> {
    let (ready_sender, ready) = sync_channel(1);
    let (plan_sender, plan_receiver) = sync_channel(1);
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || match start_runtime() {
            Ok((runtime, signals)) => {
                // The caller waits for this.
                let _ = ready_sender.send(Ok(()));
                // Otherwise the server did not start.
                if let Ok(plan) = plan_receiver.recv() {
                    wait(&runtime, signals, plan);
                }
            }
            Err(error) => drop(ready_sender.send(Err(error))),
        })?;
    ready.recv().map_err(io::Error::other)??;
    Ok(SignalListener(plan_sender))
}

fn start_runtime() -> io::Result<(Runtime, ProcessSignals)> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let signals = ProcessSignals::new()?;
    drop(entered);
    Ok((runtime, signals))
}

impl SignalListener {
    /// Shuts the server down on a signal: after the delay on SIGTERM and SIGHUP, without delay on SIGINT, and without
    /// waiting for requests on the second signal. The process ends if the server still runs `last` after the drain.
    pub(super) fn start(
        self,
        shutdown: ServerShutdown,
        drain: ConnectionDrain,
        last: Duration,
    ) -> io::Result<()> {
        let plan = ShutdownPlan {
            shutdown,
            drain,
            last,
        };
        self.0.send(plan).map_err(io::Error::other)
    }
}

fn wait(
    runtime: &Runtime,
    signals: ProcessSignals,
    ShutdownPlan {
        shutdown,
        drain,
        last,
    }: ShutdownPlan,
) {
    runtime.block_on(end(signals, shutdown, drain, last));
    tracing::error!("The server did not shut down in time: ending the process");
    // Let the log writer finish.
    thread::sleep(Duration::from_millis(50));
    process::exit(1)
}

/// Waits until the server should have shut down.
async fn end(mut signals: ProcessSignals, shutdown: ServerShutdown, drain: ConnectionDrain, last: Duration) {
    let delay = if signals.next().await {
        drain.delay
    } else {
        Duration::ZERO
    };
    let first = shutdown.clone();
    let grace = drain.grace;
    tokio::spawn(async move { first.begin(ConnectionDrain { delay, grace }).await });
    tokio::select! {
        () = sleep(delay.saturating_add(grace).saturating_add(last)) => return,
        _ = signals.next() => {}
    }
    let now = ConnectionDrain {
        delay: Duration::ZERO,
        grace: Duration::ZERO,
    };
    shutdown.begin(now).await;
    sleep(last).await;
}

#[cfg(unix)]
struct ProcessSignals {
    terminate: tokio::signal::unix::Signal,
    hang_up: Option<tokio::signal::unix::Signal>,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl ProcessSignals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(ProcessSignals {
            terminate: signal(SignalKind::terminate())?,
            hang_up: if ignores_hang_up() {
                None
            } else {
                Some(signal(SignalKind::hangup())?)
            },
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next signal; true for SIGTERM and SIGHUP.
    async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.terminate.recv() => true,
            true = hang_up_received(self.hang_up.as_mut()) => true,
            _ = self.interrupt.recv() => false,
        }
    }
}

/// Waits for SIGHUP, if it is handled.
#[cfg(unix)]
async fn hang_up_received(signal: Option<&mut tokio::signal::unix::Signal>) -> bool {
    match signal {
        Some(signal) => signal.recv().await.is_some(),
        None => false,
    }
}

/// Whether SIGHUP is ignored, as with `nohup`, or that is not known.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    /// The bit of signal 1.
    const HANG_UP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & HANG_UP != 0)
}

#[cfg(not(unix))]
struct ProcessSignals;

#[cfg(not(unix))]
impl ProcessSignals {
    fn new() -> io::Result<Self> {
        Ok(ProcessSignals)
    }

    async fn next(&mut self) -> bool {
        // Without the handler there is nothing to wait for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        false
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    use super::*;

    const CHILD: &str = "serve::signals::tests::hangs_in_a_process_of_its_own";
    const READY: &str = "listening to signals";
    const LAST: Duration = Duration::from_millis(300);

    /// The child process: a server that never shuts down.
    #[test]
    #[ignore = "it is the child of the other tests"]
    fn hangs_in_a_process_of_its_own() {
        let grace: u64 = std::env::var("GRACE").unwrap().parse().unwrap();
        let drain = ConnectionDrain {
            delay: Duration::ZERO,
            grace: Duration::from_secs(grace),
        };
        listen()
            .unwrap()
            .start(ServerShutdown::new(), drain, LAST)
            .unwrap();
        writeln!(io::stdout(), "\n{READY}").unwrap();
        thread::sleep(Duration::from_secs(600));
    }

    fn child(grace: &str) -> Child {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--nocapture", "--exact", CHILD])
            .env("GRACE", grace)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while line.trim() != READY {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "it does not start");
        }
        thread::spawn(move || output.read_to_end(&mut Vec::new()));
        child
    }

    fn signal(child: &Child, name: &str) {
        let id = child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Without force, the child would run for ten minutes and succeed.
    #[track_caller]
    fn is_forced(mut child: Child, start: Instant) {
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert!(start.elapsed() >= LAST, "{:?}", start.elapsed());
    }

    #[test]
    fn a_server_that_does_not_end_is_ended() {
        for name in ["TERM", "HUP", "INT"] {
            let child = child("0");
            let start = Instant::now();
            signal(&child, name);
            is_forced(child, start);
        }
    }

    #[test]
    fn a_second_signal_does_not_wait_for_requests() {
        let mut child = child("3600");
        signal(&child, "TERM");
        thread::sleep(LAST * 3);
        assert!(child.try_wait().unwrap().is_none(), "requests have time");
        let start = Instant::now();
        // Two signals that arrive at once are one.
        while child.try_wait().unwrap().is_none() {
            signal(&child, "TERM");
            thread::sleep(LAST * 3);
        }
        is_forced(child, start);
    }
}
