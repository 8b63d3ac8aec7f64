//! The runtime of all tasks that wait for an API server, so that callers need none.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// A runtime with two threads, which ends with its last owner.
pub(super) struct BackgroundRuntime(Option<Runtime>);

impl BackgroundRuntime {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("pratique-kube")
            .enable_all()
            .build()?;
        Ok(BackgroundRuntime(Some(runtime)))
    }

    /// The handle to spawn tasks with.
    pub(super) fn handle(&self) -> io::Result<&Handle> {
        let runtime = self.0.as_ref().map(Runtime::handle);
        runtime.ok_or_else(|| io::Error::other("the runtime ended"))
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        // It may be dropped within another runtime, which must not be blocked.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for BackgroundRuntime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Background")
    }
}

/// Runs a future on the runtime and blocks the calling thread until it is done.
pub(super) fn wait<T: Send + 'static>(
    handle: &Handle,
    future: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    wait_within(handle, future, PATIENCE)
}

/// As [`wait`], with another timeout, after which the future is dropped.
pub(super) fn wait_within<T: Send + 'static>(
    handle: &Handle,
    future: impl Future<Output = T> + Send + 'static,
    patience: Duration,
) -> io::Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let task = handle.spawn(async move {
        // The receiver may have timed out.
        let _ = sender.send(future.await);
    });
    receiver.recv_timeout(patience).map_err(|error| {
        task.abort();
        match error {
            RecvTimeoutError::Timeout => io::Error::from(io::ErrorKind::TimedOut),
            RecvTimeoutError::Disconnected => io::Error::other("the task ended without a result"),
        }
    })
}

/// How long a blocked thread waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// A task that is aborted when this is dropped.
#[derive(Debug)]
pub(super) struct BackgroundTask<T = ()>(JoinHandle<T>);

impl<T: Send + 'static> BackgroundTask<T> {
    pub(super) fn spawn(handle: &Handle, future: impl Future<Output = T> + Send + 'static) -> Self {
        BackgroundTask(handle.spawn(future))
    }

    /// The result of the task; `None` if it was aborted or panicked.
    pub(super) async fn done(mut self) -> Option<T> {
        (&mut self.0).await.ok()
    }
}

impl<T> Drop for BackgroundTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tasks that are stopped together.
#[derive(Debug)]
pub(super) struct BackgroundTasks {
    handle: Handle,
    running: Mutex<Vec<BackgroundTask>>,
}

impl BackgroundTasks {
    pub(super) fn new(handle: &Handle, running: Vec<BackgroundTask>) -> Self {
        BackgroundTasks {
            handle: handle.clone(),
            running: Mutex::new(running),
        }
    }

    /// Whether a task has ended without being stopped.
    pub(super) fn have_ended(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().any(|task| task.0.is_finished())
    }

    /// Stops the tasks, and waits for that.
    pub(super) fn stop(&self) {
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        if running.is_empty() {
            return;
        }
        running.iter().for_each(|task| task.0.abort());
        // If the runtime was dropped, so were the tasks.
        let _ = wait(&self.handle, async move {
            for task in running {
                task.done().await;
            }
        });
    }
}
