//! Metrics of a report, as a file for a collector of text files.

use std::time::SystemTime;

use pratique_metrics::{MetricFamily, MetricKind, MetricSeries, SeriesValue, write_text};
use pratique_report::{Counts, Report};

/// The label of what is counted in no row of its own, as in the metrics of the server.
const OTHER: &str = "unexpected";

/// The metrics of a report in the text format of Prometheus.
pub(super) fn metrics_text(report: &Report, at: SystemTime) -> String {
    let total = report.tally().total();
    let decisions = [
        ("allowed", total.allowed),
        ("denied", total.denied),
        ("failed", total.failed),
        ("undecided", total.undecided),
    ];
    let accepted = (total.accepted > 0).then_some(("accepted", total.accepted));
    let decisions = accepted.into_iter().chain(decisions);
    let decisions = decisions.map(|(decision, count)| series(&[("decision", decision)], count));
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let missing = u64::try_from(report.missing().len()).unwrap_or(u64::MAX);
    write_text(&families([
        findings(report),
        vec![series(&[], missing)],
        decisions.collect(),
        vec![series(&[], report.run().policy_count)],
        vec![series(&[], seconds.as_secs())],
    ]))
}

/// The families, with their series.
fn families([findings, missing, objects, policies, timestamp]: [Vec<MetricSeries>; 5]) -> [MetricFamily; 5] {
    [
        family(
            "pratique_scan_findings",
            &["action", "binding", "policy"],
            "[ALPHA] What policies found in the last scan, by what follows from it.",
            findings,
        ),
        family(
            "pratique_scan_missing_shards",
            &[],
            "[ALPHA] Shards of the last scan that are not in its report.",
            missing,
        ),
        family(
            "pratique_scan_objects",
            &["decision"],
            "[ALPHA] Objects of the last scan, by decision; failed are those that could not be read or evaluated.",
            objects,
        ),
        family(
            "pratique_scan_policies",
            &[],
            "[ALPHA] Policies of the last scan.",
            policies,
        ),
        family(
            "pratique_scan_timestamp_seconds",
            &[],
            "[ALPHA] When the last scan ended.",
            timestamp,
        ),
    ]
}

/// The families without series, for the reference.
#[cfg(test)]
pub(crate) fn described() -> [MetricFamily; 5] {
    families(Default::default())
}

fn findings(report: &Report) -> Vec<MetricSeries> {
    let policies = report.tally().policies();
    let other = policies.other();
    let other = (!other.is_empty()).then_some(([OTHER, OTHER], other));
    let rows = policies.rows().chain(other);
    rows.flat_map(|([policy, binding], counts)| {
        by_action(counts)
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(move |(action, count)| {
                series(
                    &[("action", action), ("binding", binding), ("policy", policy)],
                    count,
                )
            })
    })
    .collect()
}

fn by_action(counts: Counts) -> [(&'static str, u64); 6] {
    [
        ("accepted", counts.accepted),
        ("audit", counts.audited),
        ("deny", counts.denied),
        ("ignore", counts.ignored),
        ("undecided", counts.undecided),
        ("warn", counts.warned),
    ]
}

fn family(
    name: &'static str,
    labels: &[&'static str],
    help: &'static str,
    series: Vec<MetricSeries>,
) -> MetricFamily {
    MetricFamily {
        name,
        help,
        kind: MetricKind::Gauge,
        labels: labels.to_vec(),
        series,
    }
}

fn series(labels: &[(&'static str, &str)], count: u64) -> MetricSeries {
    let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned()));
    MetricSeries {
        labels: labels.collect(),
        value: SeriesValue::Gauge(count as f64),
    }
}
