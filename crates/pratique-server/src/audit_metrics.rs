//! Counts lost and delayed audit events in metrics.

use pratique_audit::{Log, LossObserver, RequestRecorder};
use pratique_metrics::Metrics;

/// An observer that counts in metrics.
struct AuditMetrics {
    metrics: Metrics,
    plugin: &'static str,
}

impl LossObserver for AuditMetrics {
    fn lost(&self, events: u64) {
        self.metrics.audit_errors(self.plugin, events);
    }

    fn failed(&self) {
        self.metrics.audit_write_failures(1);
    }
}

impl AuditMetrics {
    /// An observer for a kind of log. Its counters start with 0, so that the first loss is an increase.
    fn new(plugin: &'static str, metrics: &Metrics) -> Self {
        metrics.audit_errors(plugin, 0);
        metrics.audit_write_failures(0);
        AuditMetrics {
            metrics: metrics.clone(),
            plugin,
        }
    }
}

/// Counts the losses of a log from now on.
pub(crate) fn observe(log: &Log, metrics: &Metrics) {
    log.observe(AuditMetrics::new("log", metrics));
}

/// Counts the losses of a record of requests from now on.
pub(crate) fn observe_record(recorder: &RequestRecorder, metrics: &Metrics) {
    recorder.observe(AuditMetrics::new("record", metrics));
}
