//! Counts lost and delayed audit events in metrics.

use pratique_audit::{Log, LossObserver};
use pratique_metrics::Metrics;

/// An observer that counts in metrics.
struct AuditMetrics(Metrics);

impl LossObserver for AuditMetrics {
    fn lost(&self, events: u64) {
        self.0.audit_errors("log", events);
    }

    fn failed(&self) {
        self.0.audit_write_failures(1);
    }
}

/// Counts the losses of a log from now on.
pub(crate) fn observe(log: &Log, metrics: &Metrics) {
    metrics.audit_errors("log", 0);
    metrics.audit_write_failures(0);
    log.observe(AuditMetrics(metrics.clone()));
}
