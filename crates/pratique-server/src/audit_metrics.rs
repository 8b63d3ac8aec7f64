//! Counts lost and delayed audit events in metrics.

use pratique_audit::{Log, LossObserver, Recorder};
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

/// Counts the losses of a log from now on.
pub(crate) fn observe(log: &Log, metrics: &Metrics) {
    metrics.audit_errors("log", 0);
    metrics.audit_write_failures(0);
    log.observe(AuditMetrics {
        metrics: metrics.clone(),
        plugin: "log",
    });
}

/// Counts the losses of a record of requests from now on.
pub(crate) fn observe_record(recorder: &Recorder, metrics: &Metrics) {
    metrics.audit_errors("record", 0);
    metrics.audit_write_failures(0);
    recorder.observe(AuditMetrics {
        metrics: metrics.clone(),
        plugin: "record",
    });
}
