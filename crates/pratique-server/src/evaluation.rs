//! Evaluations of requests, on other threads than those that serve connections.
//!
//! An evaluation may compute for long, so it does not run on the threads that do I/O, run timers and answer probes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pratique::policy::Interrupt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

use crate::pool::{PoolTask, TaskKind, TaskPool};

/// The thread pools for evaluations of small and large requests.
#[derive(Debug)]
pub(crate) struct EvaluatorPools {
    small: TaskPool,
    large: TaskPool,
}

/// The future of an evaluation's result. Dropping it cancels the evaluation.
#[derive(Debug)]
pub(crate) struct PendingEvaluation<T> {
    result: oneshot::Receiver<T>,
    task: Arc<PoolTask>,
    interrupt: Interrupt,
}

impl EvaluatorPools {
    /// Pools for at most `most` concurrent evaluations each.
    pub(crate) fn new(most: usize) -> Self {
        let io = Handle::current();
        EvaluatorPools {
            small: TaskPool::new(most, TaskKind::Quick, io.clone()),
            large: TaskPool::new(most, TaskKind::Heavy, io),
        }
    }

    /// Starts an evaluation. After a panic, there is no result.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        is_small: bool,
        interrupt: Interrupt,
        evaluate: impl Future<Output = T> + Send + 'static,
    ) -> PendingEvaluation<T> {
        let pool = if is_small { &self.small } else { &self.large };
        let (sender, result) = oneshot::channel();
        let task = pool.spawn(Box::pin(async move {
            // Without a receiver, the result is not needed.
            let _ = sender.send(evaluate.await);
        }));
        PendingEvaluation {
            result,
            task,
            interrupt,
        }
    }
}

impl<T> Future for PendingEvaluation<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.result).poll(context)
    }
}

impl<T> Drop for PendingEvaluation<T> {
    fn drop(&mut self) {
        self.interrupt.set();
        self.task.cancel();
    }
}
