//! The metrics of `serve` and of `scan`.

use std::time::SystemTime;

use pratique_metrics::{MetricFamily, MetricKind, Metrics};

use super::markdown::{codes, escaped};
use crate::scan::metrics::described;

pub(super) fn page() -> String {
    format!(
        "# Metrics

`pratique serve` has them at `/metrics`, in the text format of Prometheus and as OpenMetrics. Those of an API server have its
names, help texts and labels; others begin with `pratique_`. A family is shown once it has a value.

{}
## Of a scan

`pratique scan --metrics-file FILE` writes these for a collector of text files.

{}",
        list(&Metrics::new("").described()),
        list(&described())
    )
}

fn list(families: &[MetricFamily]) -> String {
    let entry = |family: &MetricFamily| {
        let labels = match family.labels.as_slice() {
            [] => String::new(),
            labels => format!(", by {}", codes(labels.iter().copied())),
        };
        format!(
            "- **`{}`** ({}{labels}) {}\n",
            family.name,
            kind(family.kind),
            escaped(family.help)
        )
    };
    families.iter().map(entry).collect()
}

fn kind(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
        MetricKind::Info => "info",
        MetricKind::Histogram => "histogram",
        MetricKind::Summary => "summary",
    }
}

/// What is described is what is written.
#[test]
fn described_families_are_those_of_the_text() {
    let metrics = Metrics::new("name");
    metrics.reload_succeeded("ValidatingAdmissionPolicy", "hash", SystemTime::UNIX_EPOCH);
    let described = metrics.described();
    for family in metrics.gather() {
        let same = described.iter().find(|described| described.name == family.name);
        let labels = family.series[0].labels.iter().map(|(name, _)| *name);
        assert_eq!(
            same.unwrap().labels,
            labels.collect::<Vec<_>>(),
            "{}",
            family.name
        );
    }
    assert!(described.len() > 25, "{} families", described.len());
}
