//! Background tasks that end before the server does: told once each, and counted.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pratique_metrics::Metrics;

use crate::server::Shared;

/// How often to look without being asked.
const EVERY: Duration = Duration::from_secs(1);

/// The tasks that a server may have.
const TASKS: [&str; 5] = ["watch", "reload", "cluster", "certificates", "audit"];

/// Which tasks were told to have ended.
#[derive(Debug, Default)]
pub(crate) struct Supervision(Mutex<BTreeSet<&'static str>>);

impl Supervision {
    /// With nothing counted yet, which metrics show.
    pub(crate) fn new(metrics: &Metrics) -> Self {
        TASKS
            .iter()
            .for_each(|task| metrics.background_tasks_ended(task, 0));
        Supervision::default()
    }

    fn note(&self, ended: &[&'static str], metrics: &Metrics) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for task in ended {
            if known.insert(task) {
                metrics.background_tasks_ended(task, 1);
                tracing::error!(
                    task,
                    "A background task ended: the server is not ready, and has to be restarted"
                );
            }
        }
    }
}

impl Shared {
    /// The background tasks that ended, though the server goes on. A task that did is told to the log and counted.
    pub(crate) fn ended_tasks(&self) -> Vec<&'static str> {
        let mut ended = self.reviewer.ended_tasks();
        if self.rotation.as_ref().is_some_and(|own| own.has_ended()) {
            ended.push("certificates");
        }
        if self.audit.as_ref().is_some_and(|own| own.has_ended()) {
            ended.push("audit");
        }
        self.supervision.note(&ended, &self.metrics);
        ended
    }
}

/// Looks again and again.
pub(crate) async fn supervise(shared: &Shared) {
    loop {
        shared.ended_tasks();
        tokio::time::sleep(EVERY).await;
    }
}
