//! The tables of the page.

use std::time::{Duration, SystemTime};

use pratique_metrics::{Family, Series, Value};

use super::filter::Filter;
use super::html::Html;
use crate::configz::{Attempt, CertificateSource, Source, text};
use crate::recent::Decision;

/// What is judged by.
pub(super) fn sources(out: &mut Html, sources: &[Source]) {
    out.heading("Configuration")
        .table(&["Plugin", "From", "Hash", "Objects", "Loaded", "Last reload"]);
    for source in sources {
        out.row().cell(&source.plugin);
        place(out, &source.location);
        out.open("").raw("<code title=\"").text(&source.hash).raw("\">");
        out.text(&short(&source.hash)).raw("</code>").close();
        out.open("")
            .raw("<details><summary>")
            .text(&source.names.len().to_string())
            .raw("</summary>");
        for name in &source.names {
            out.raw("<code>").text(name).raw("</code><br>");
        }
        out.raw("</details>").close().time(&text(source.loaded));
        last_reload(out, &source.last_reload);
        out.raw("</tr>");
    }
    out.end();
}

/// The certificates of the server.
pub(super) fn certificates(out: &mut Html, certificates: &[CertificateSource], now: SystemTime) {
    if certificates.is_empty() {
        return;
    }
    out.heading("Certificates")
        .table(&["For", "From", "Expires", "Loaded", "Last reload"]);
    for own in certificates {
        out.row().cell(own.name);
        place(out, &own.location);
        out.open("time");
        match own.expires {
            None => out.span("quiet", "unknown"),
            Some(at) if at <= now => out.span("bad", "expired").raw(" ").text(&text(at)),
            Some(at) if at <= now + SOON => out.span("warning", "soon").raw(" ").text(&text(at)),
            Some(at) => out.text(&text(at)),
        };
        out.close().time(&text(own.loaded));
        last_reload(out, &own.last_reload);
        out.raw("</tr>");
    }
    out.end();
}

/// A certificate that expires within this time is shown as a warning: those of cert-manager are renewed long before.
const SOON: Duration = Duration::from_hours(7 * 24);

fn place(out: &mut Html, location: &str) {
    out.open("long")
        .raw("<code>")
        .text(location)
        .raw("</code>")
        .close();
}

fn last_reload(out: &mut Html, last: &Attempt) {
    match &last.error {
        None => out.time(&text(last.at)),
        Some(error) => {
            out.open("long")
                .span("bad", "failed")
                .raw(" ")
                .text(&text(last.at));
            out.raw("<br><code>").text(error).raw("</code>").close()
        }
    };
}

/// How long admission took lately.
pub(super) fn latencies(out: &mut Html, families: &[Family]) {
    let steps = families
        .iter()
        .find(|own| own.name == "apiserver_admission_step_admission_duration_seconds_summary");
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
        let Value::Summary(own) = &series.value else {
            continue;
        };
        out.row()
            .cell(label(series, "type"))
            .cell(label(series, "operation"))
            .cell(label(series, "rejected"));
        out.number(&own.count.to_string());
        for (_, seconds) in &own.quantiles {
            out.number(&time(*seconds));
        }
        out.raw("</tr>");
    }
    out.end();
}

/// How many decisions are shown at a time.
const SHOWN: usize = 50;

/// What was decided lately, and why: of all, those that a filter lets through.
pub(super) fn decisions(out: &mut Html, all: &[Decision], filter: &Filter) {
    let columns = [
        "At",
        "Answer",
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
    let mut shown = 0;
    for own in all.iter().filter(|own| filter.lets(own)).take(SHOWN) {
        decision(out, own);
        shown += 1;
    }
    out.end();
    if shown == 0 {
        let text = match all.is_empty() {
            true => "None yet.",
            false => "None of the last ones is like that.",
        };
        out.raw("<p class=\"quiet\">").text(text).raw("</p>");
    }
}

fn decision(out: &mut Html, own: &Decision) {
    out.row().time(&text(own.at)).open("");
    match (own.allowed, own.changed) {
        (false, _) => out.span("bad", "denied"),
        (true, true) => out.span("good", "changed"),
        (true, false) => out.span("good", "allowed"),
    };
    out.raw(" ").span("quiet", own.path).close();
    out.cell(own.operation)
        .cell(&own.resource)
        .cell(&own.namespace)
        .cell(&own.name)
        .cell(&own.user);
    out.open("long").text(&own.why);
    for warning in &own.warnings {
        out.raw("<div>")
            .span("warning", "warning")
            .raw(" ")
            .text(warning)
            .raw("</div>");
    }
    let changes = own.changes();
    if !changes.is_empty() {
        out.span("quiet", &changes);
    }
    out.close();
    out.number(&time(own.elapsed.as_secs_f64())).raw("</tr>");
}

fn label<'a>(series: &'a Series, name: &str) -> &'a str {
    series
        .labels
        .iter()
        .find(|(own, _)| *own == name)
        .map_or("", |(_, value)| value)
}

/// As much of a hash as tells it from others.
fn short(hash: &str) -> String {
    hash.strip_prefix("sha256:")
        .unwrap_or(hash)
        .chars()
        .take(12)
        .collect()
}

/// To three digits or so.
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
