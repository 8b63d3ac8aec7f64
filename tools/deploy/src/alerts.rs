//! Whether queries ask for metrics that there are, by labels that these have.

use super::metrics::KnownSamples;
use super::objects::{RenderedObject, items, text_at};

/// The faults of rules for Prometheus.
pub(super) fn faults(object: &RenderedObject) -> Vec<String> {
    if object.kind() != "PrometheusRule" {
        return Vec::new();
    }
    let known = KnownSamples::new();
    let groups = items(object.part("/spec/groups")).iter();
    let mut faults = Vec::new();
    for rule in groups.flat_map(|group| items(&group["rules"])) {
        let name = text_at(rule, "/alert");
        faults.extend(
            query(text_at(rule, "/expr"), &known)
                .into_iter()
                .map(|fault| format!("{name}: {fault}")),
        );
        if text_at(rule, "/annotations/summary").is_empty() || text_at(rule, "/labels/severity").is_empty() {
            faults.push(format!(
                "{name}: it says neither what happens nor how bad that is"
            ));
        }
    }
    faults
}

/// The faults of a query.
pub(super) fn query(query: &str, known: &KnownSamples) -> Vec<String> {
    let mut faults = Vec::new();
    let mut samples = Vec::new();
    for (name, rest) in names(query) {
        if !name.starts_with("apiserver_") && !name.starts_with("pratique_") {
            continue;
        }
        if !known.has(name) {
            faults.push(format!("there is no {name}"));
            continue;
        }
        samples.push(name);
        for (label, value) in matchers(rest) {
            if !known.may_have(name, label, value) {
                faults.push(format!("{name} has no {label} {}", value.unwrap_or_default()));
            }
        }
    }
    for label in grouped(query) {
        if !samples.is_empty() && !samples.iter().any(|sample| known.may_have(sample, label, None)) {
            faults.push(format!("nothing that is asked for has {label}"));
        }
    }
    faults
}

/// Names in a query, and what is behind each.
fn names(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |at: char| at.is_ascii_alphanumeric() || at == '_' || at == ':';
    let mut rest = query;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let (_, from) = rest.split_at_checked(start)?;
        let end = from.find(|at| !is_part(at)).unwrap_or(from.len());
        let (name, behind) = from.split_at_checked(end)?;
        rest = behind;
        Some((name, behind))
    })
}

/// Labels in the braces that a text begins with; the values of those that are compared to one value.
fn matchers(rest: &str) -> Vec<(&str, Option<&str>)> {
    let Some((inside, _)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        return Vec::new();
    };
    let mut labels = Vec::new();
    for matcher in inside.split(',') {
        let Some((label, value)) = matcher.split_once('=') else {
            continue;
        };
        let (is_pattern, negated) = (value.starts_with('~'), label.ends_with('!'));
        let value = value.trim_start_matches('~').trim().trim_matches('"');
        let is_plain = !value.contains(['$', '\\', '*', '+', '.']);
        let label = label.trim().trim_end_matches(['!', '=']).trim();
        match is_plain {
            true if is_pattern => labels.extend(value.split('|').map(|value| (label, Some(value)))),
            true if !negated || !value.is_empty() => labels.push((label, Some(value))),
            _ => labels.push((label, None)),
        }
    }
    labels
}

/// Labels that results are grouped by.
fn grouped(query: &str) -> impl Iterator<Item = &str> {
    let lists = query
        .split("by (")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0));
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        assert_eq!(query(expression, &KnownSamples::new()), expected);
    }

    #[test]
    fn queries_are_understood() {
        let reloads = "apiserver_manifest_admission_config_controller_automatic_reloads_total";
        check(
            &format!("increase({reloads}{{job=\"a\", status=\"failure\"}}[5m]) > 0"),
            &[],
        );
        check(
            &format!("sum by (plugin, policy) ({reloads}{{status=\"failed\"}})"),
            &[
                &format!("{reloads} has no status failed"),
                "nothing that is asked for has policy",
            ],
        );
        check(
            "rate(apiserver_admissions_total[5m])",
            &["there is no apiserver_admissions_total"],
        );
        let steps = "apiserver_admission_step_admission_duration_seconds";
        check(
            &format!("sum by (le) (rate({steps}_bucket{{type=~\"admit|validate\"}}[5m]))"),
            &[],
        );
        check(
            &format!("sum by (le) (rate({steps}_sum[5m]))"),
            &["nothing that is asked for has le"],
        );
        check(
            "apiserver_audit_error_total{kind!=\"a\"}",
            &["apiserver_audit_error_total has no kind a"],
        );
    }
}
