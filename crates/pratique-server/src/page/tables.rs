//! The tables of the status page.

use std::time::{Duration, SystemTime};

use pratique_metrics::{MetricFamily, MetricSeries, SeriesValue};

use super::filter::DecisionFilter;
use super::html::HtmlPage;
use crate::configz::{CertificateSource, ReloadAttempt, Source, time_text};
use crate::recent::RecentDecision;

/// The sources of policies and webhooks.
pub(super) fn sources(out: &mut HtmlPage, sources: &[Source]) {
    out.heading("Configuration")
        .table(&["Plugin", "From", "Hash", "Objects", "Loaded", "Last reload"]);
    for source in sources {
        out.row().cell(&source.plugin);
        location(out, &source.location);
        out.open("")
            .raw("<code title=\"")
            .push_text(&source.hash)
            .raw("\">");
        out.push_text(&short(&source.hash)).raw("</code>").close();
        out.open("")
            .raw("<details><summary>")
            .push_text(&source.names.len().to_string())
            .raw("</summary>");
        for name in &source.names {
            out.raw("<code>").push_text(name).raw("</code><br>");
        }
        out.raw("</details>").close().time(&time_text(source.loaded));
        last_reload(out, &source.last_reload);
        out.raw("</tr>");
    }
    out.end();
}

/// The certificates of the server.
pub(super) fn certificates(out: &mut HtmlPage, certificates: &[CertificateSource], now: SystemTime) {
    if certificates.is_empty() {
        return;
    }
    out.heading("Certificates")
        .table(&["For", "From", "Expires", "Loaded", "Last reload"]);
    for certificate in certificates {
        out.row().cell(certificate.name);
        location(out, &certificate.location);
        out.open("time");
        match certificate.expires {
            None => out.span("quiet", "unknown"),
            Some(at) if at <= now => out.span("bad", "expired").raw(" ").push_text(&time_text(at)),
            Some(at) if at <= now + SOON => out.span("warning", "soon").raw(" ").push_text(&time_text(at)),
            Some(at) => out.push_text(&time_text(at)),
        };
        out.close().time(&time_text(certificate.loaded));
        last_reload(out, &certificate.last_reload);
        out.raw("</tr>");
    }
    out.end();
}

/// Certificates that expire within this time are shown as a warning: cert-manager renews them long before.
const SOON: Duration = Duration::from_hours(7 * 24);

fn location(out: &mut HtmlPage, location: &str) {
    out.open("long")
        .raw("<code>")
        .push_text(location)
        .raw("</code>")
        .close();
}

fn last_reload(out: &mut HtmlPage, last: &ReloadAttempt) {
    match &last.error {
        None => out.time(&time_text(last.at)),
        Some(error) => {
            out.open("long")
                .span("bad", "failed")
                .raw(" ")
                .push_text(&time_text(last.at));
            out.raw("<br><code>").push_text(error).raw("</code>").close()
        }
    };
}

/// The latencies of admission in the last hours.
pub(super) fn latencies(out: &mut HtmlPage, families: &[MetricFamily]) {
    let steps = families
        .iter()
        .find(|family| family.name == "apiserver_admission_step_admission_duration_seconds_summary");
    let Some(steps) = steps else { return };
    let columns = [
        "Step",
        "Operation",
        "Rejected",
        "Requests",
        "Median",
        "90 %",
        "99 %",
    ];
    out.heading("Latencies of the last hours").table(&columns);
    for series in &steps.series {
        let SeriesValue::Summary(summary) = &series.value else {
            continue;
        };
        out.row()
            .cell(label(series, "type"))
            .cell(label(series, "operation"))
            .cell(label(series, "rejected"));
        out.number(&summary.count.to_string());
        for (_, seconds) in &summary.quantiles {
            out.number(&time(*seconds));
        }
        out.raw("</tr>");
    }
    out.end();
}

/// The maximum number of decisions on the page.
const MAX_SHOWN: usize = 50;

/// The last decisions that match a filter.
pub(super) fn decisions(out: &mut HtmlPage, all: &[RecentDecision], filter: &DecisionFilter) {
    let columns = [
        "At",
        "Decision",
        "Operation",
        "Resource",
        "Namespace",
        "Name",
        "User",
        "Why",
        "Took",
    ];
    out.heading("Decisions");
    filter.write(out, all);
    out.table(&columns);
    let mut count = 0;
    let matching = all.iter().filter(|decision| filter.matches(decision));
    for decision in matching.take(MAX_SHOWN) {
        decision_row(out, decision);
        count += 1;
    }
    out.end();
    if count == 0 {
        let text = if all.is_empty() {
            "None yet."
        } else {
            "None of the last ones is like that."
        };
        out.raw("<p class=\"quiet\">").push_text(text).raw("</p>");
    }
}

fn decision_row(out: &mut HtmlPage, decision: &RecentDecision) {
    out.row().time(&time_text(decision.at)).open("");
    match (decision.allowed, decision.changed) {
        (false, _) => out.span("bad", "denied"),
        (true, true) => out.span("good", "changed"),
        (true, false) => out.span("good", "allowed"),
    };
    out.raw(" ").span("quiet", decision.path).close();
    out.cell(decision.operation)
        .cell(&decision.resource)
        .cell(&decision.namespace)
        .cell(&decision.name)
        .cell(&decision.user);
    out.open("long").push_text(&decision.message);
    for warning in &decision.warnings {
        out.raw("<div>")
            .span("warning", "warning")
            .raw(" ")
            .push_text(warning)
            .raw("</div>");
    }
    let changes = decision.changes();
    if !changes.is_empty() {
        out.span("quiet", &changes);
    }
    out.close();
    out.number(&time(decision.elapsed.as_secs_f64())).raw("</tr>");
}

fn label<'a>(series: &'a MetricSeries, name: &str) -> &'a str {
    series
        .labels
        .iter()
        .find(|(label, _)| *label == name)
        .map_or("", |(_, value)| value)
}

/// The first characters of a hash.
fn short(hash: &str) -> String {
    hash.strip_prefix("sha256:")
        .unwrap_or(hash)
        .chars()
        .take(12)
        .collect()
}

/// A duration with about three significant digits.
fn time(seconds: f64) -> String {
    let Ok(time) = Duration::try_from_secs_f64(seconds) else {
        return "–".into();
    };
    match time.as_micros() {
        0..1_000 => format!("{} µs", time.as_micros()),
        1_000..1_000_000 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{short, time};

    #[test]
    fn numbers_are_short() {
        assert_eq!(time(0.000_123_4), "123 µs");
        assert_eq!(time(0.012_34), "12.3 ms");
        assert_eq!(time(2.0), "2.00 s");
        assert_eq!(time(f64::NAN), "–");
        assert_eq!(short("sha256:0123456789abcdef"), "0123456789ab");
    }
}
