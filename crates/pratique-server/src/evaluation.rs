//! Evaluations of requests, apart from what serves connections.
//!
//! An evaluation computes for as long as it takes, so it does not run on the threads that read, answer, keep the time
//! and tell probes how the server is.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pratique::policy::Interrupt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

use crate::pool::{Kind, Pool, Task};

/// The threads for evaluations: some for small requests, and some for others.
#[derive(Debug)]
pub(crate) struct Evaluators {
    small: Pool,
    large: Pool,
}

/// A running evaluation, whose result it gives. It is interrupted when this is dropped.
#[derive(Debug)]
pub(crate) struct Evaluation<T> {
    result: oneshot::Receiver<T>,
    task: Arc<Task>,
    interrupt: Interrupt,
}

impl Evaluators {
    /// For up to so many evaluations at a time of either kind.
    pub(crate) fn new(most: usize) -> Self {
        let io = Handle::current();
        Evaluators {
            small: Pool::new(most, Kind::Quick, io.clone()),
            large: Pool::new(most, Kind::Heavy, io),
        }
    }

    /// Begins to evaluate. A panic ends there, and leaves no result.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        is_small: bool,
        interrupt: Interrupt,
        evaluate: impl Future<Output = T> + Send + 'static,
    ) -> Evaluation<T> {
        let pool = match is_small {
            true => &self.small,
            false => &self.large,
        };
        let (sender, result) = oneshot::channel();
        let task = pool.spawn(Box::pin(async move {
            // Without a receiver the result is of no use.
            let _ = sender.send(evaluate.await);
        }));
        Evaluation {
            result,
            task,
            interrupt,
        }
    }
}

impl<T> Future for Evaluation<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.result).poll(context)
    }
}

impl<T> Drop for Evaluation<T> {
    fn drop(&mut self) {
        self.interrupt.set();
        self.task.cancel();
    }
}
