//! The tables of the page.

use std::time::Duration;

use pratique_metrics::{Family, Series, Value};

use super::html::Html;
use crate::configz::{Source, text};
use crate::recent::Decision;

/// What is judged by.
pub(super) fn sources(out: &mut Html, sources: &[Source]) {
    out.table(
        "Configuration",
        &["Plugin", "From", "Hash", "Objects", "Loaded", "Last reload"],
    );
    for source in sources {
        out.raw("<tr>").cell(&source.plugin);
        out.raw("<td class=\"long\"><code>")
            .text(&source.location)
            .raw("</code></td>");
        out.raw("<td><code title=\"")
            .text(&source.hash)
            .raw("\">")
            .text(&short(&source.hash))
            .raw("</code></td>");
        out.raw("<td><details><summary>")
            .text(&source.names.len().to_string())
            .raw("</summary>");
        for name in &source.names {
            out.raw("<code>").text(name).raw("</code><br>");
        }
        out.raw("</details></td>").time(&text(source.loaded));
        let last = &source.last_reload;
        match &last.error {
            None => out.time(&text(last.at)),
            Some(error) => {
                out.raw("<td class=\"long\"><span class=\"bad\">failed</span> ")
                    .text(&text(last.at))
                    .raw("<br><code>");
                out.text(error).raw("</code></td>")
            }
        };
        out.raw("</tr>");
    }
    out.end();
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
    out.table("Latencies of the last hours", &columns);
    for series in &steps.series {
        let Value::Summary(own) = &series.value else {
            continue;
        };
        out.raw("<tr>")
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

/// What was decided lately, and why.
pub(super) fn decisions(out: &mut Html, decisions: &[Decision]) {
    let columns = [
        "At",
        "Answer",
        "Operation",
        "Resource",
        "Name",
        "User",
        "Why",
        "Took",
    ];
    out.table("Decisions", &columns);
    for decision in decisions {
        out.raw("<tr>").time(&text(decision.at));
        match (decision.allowed, decision.changed) {
            (false, _) => out.raw("<td><span class=\"bad\">denied</span>"),
            (true, true) => out.raw("<td><span class=\"good\">changed</span>"),
            (true, false) => out.raw("<td><span class=\"good\">allowed</span>"),
        };
        out.raw(" <span class=\"quiet\">")
            .text(decision.path)
            .raw("</span></td>");
        out.cell(decision.operation)
            .cell(&decision.resource)
            .cell(&decision.name)
            .cell(&decision.user);
        out.raw("<td class=\"long\">")
            .text(&decision.why)
            .raw(" <span class=\"quiet\">")
            .text(&decision.changes())
            .raw("</span></td>");
        out.number(&time(decision.elapsed.as_secs_f64())).raw("</tr>");
    }
    out.end();
    if decisions.is_empty() {
        out.raw("<p class=\"quiet\">None yet.</p>");
    }
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
