//! Audit events that are lost or delayed, as metrics have them.

use pratique_audit::{Log, Observer};
use pratique_metrics::Metrics;

/// Counts what is lost of a log.
struct Counting(Metrics);

impl Observer for Counting {
    fn lost(&self, events: u64) {
        self.0.audit_errors("log", events);
    }

    fn failed(&self) {
        self.0.audit_write_failures(1);
    }
}

/// Has all losses of a log counted from now on.
pub(crate) fn count(log: &Log, metrics: &Metrics) {
    metrics.audit_errors("log", 0);
    metrics.audit_write_failures(0);
    log.observe(Counting(metrics.clone()));
}
