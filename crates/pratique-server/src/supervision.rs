//! Background tasks that ended before the server: logged and counted once each.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use pratique_metrics::Metrics;

/// The names of background tasks.
const TASKS: [&str; 5] = ["watch", "reload", "cluster", "certificates", "audit"];

/// The tasks that were reported to have ended.
#[derive(Debug, Default)]
pub(crate) struct TaskSupervision(Mutex<BTreeSet<&'static str>>);

impl TaskSupervision {
    /// Initialises the counters with 0, so that the first ended task is an increase.
    pub(crate) fn new(metrics: &Metrics) -> Self {
        TASKS
            .iter()
            .for_each(|task| metrics.background_tasks_ended(task, 0));
        TaskSupervision::default()
    }

    /// Logs and counts tasks that were not reported before.
    pub(crate) fn record(&self, ended: &[&'static str], metrics: &Metrics) {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for task in ended {
            if reported.insert(task) {
                metrics.background_tasks_ended(task, 1);
                tracing::error!(
                    task,
                    "A background task ended: the server is not ready, and has to be restarted"
                );
            }
        }
    }
}
