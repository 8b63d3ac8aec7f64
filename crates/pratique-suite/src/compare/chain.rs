//! Compares what the server's chain did with what is expected of it.

use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_objects::changed_paths;

use super::Difference;
use crate::actual::Actual;
use crate::plugin_outcome::PluginOutcome;
use crate::suite::Expected;
use pratique_review::chain::{Step, StepEffect};

/// Compares the outcomes of the request in admission plugins.
pub(super) fn plugins(expected: &Expected, actual: &Actual) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, expected) in &expected.plugins {
        let found = actual.plugins.get(name).copied();
        let found = found.unwrap_or(PluginOutcome::Skipped);
        if found == *expected {
            continue;
        }
        let why = actual.steps.iter().rev().filter(|step| step.name == *name);
        let mut why = why.filter_map(|step| match &step.did {
            StepEffect::Refused(why) | StepEffect::Undecided(why) => Some(why),
            _ => None,
        });
        let found = match why.next() {
            Some(why) => format!("{}: {why}", found.name()),
            None => found.name().to_owned(),
        };
        differences.push(Difference::new(
            format!("plugins[{name}]"),
            expected.name(),
            found,
        ));
    }
    differences
}

/// Compares the fields that parts of the chain change.
pub(super) fn changes(expected: &Expected, actual: &Actual) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, paths) in &expected.changes {
        let changed: Vec<_> = actual
            .steps
            .iter()
            .filter_map(|step| changed_by(step, name))
            .collect();
        for field in paths {
            let is_changed = |(before, after): &(&Value<'_>, &Value<'_>)| {
                field.path.find(before) != field.path.find(after)
            };
            if changed.iter().any(is_changed) {
                continue;
            }
            let found = changed
                .iter()
                .flat_map(|(before, after)| changed_paths(before, after));
            let found: Vec<String> = found.map(|path| format!("object.{path}")).collect();
            let found = if found.is_empty() {
                "nothing".to_owned()
            } else {
                found.join("\n")
            };
            differences.push(Difference::new(format!("changes[{name}]"), &field.text, found));
        }
    }
    differences
}

/// The object before and after a step of something with this name, if that changed it.
fn changed_by<'s>(step: &'s Step, name: &str) -> Option<(&'s Value<'static>, &'s Value<'static>)> {
    let is_named = step.name == name || step.by.as_deref() == Some(name);
    match &step.did {
        StepEffect::Changed { before, after } if is_named => Some((before, after)),
        _ => None,
    }
}

/// Compares what is used of quotas.
pub(super) fn quotas(expected: &Expected, actual: &Actual) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, amounts) in &expected.quotas {
        let Some(used) = actual.quotas.get(&actual.quota_key(name)) else {
            let all: Vec<&str> = actual.quotas.keys().map(String::as_str).collect();
            let found = if all.is_empty() {
                "no quota is known".to_owned()
            } else {
                format!("no such quota among {}", all.join(", "))
            };
            differences.push(Difference::new(format!("quotas[{name}]"), "a quota", found));
            continue;
        };
        for (resource, expected) in amounts {
            let found = used.get(resource).map_or("nothing", String::as_str);
            if !is_same_amount(expected, found) {
                let field = format!("quotas[{name}][{resource}]");
                differences.push(Difference::new(field, expected, found));
            }
        }
    }
    differences
}

/// Whether two texts are the same amount: `0.5` is `500m`.
fn is_same_amount(expected: &str, found: &str) -> bool {
    match (Quantity::parse(expected), Quantity::parse(found)) {
        (Ok(expected), Ok(found)) => expected == found,
        _ => expected == found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_compared_by_value() {
        assert!(is_same_amount("0.5", "500m") && is_same_amount("2", "2"));
        assert!(!is_same_amount("0.5", "0.6") && !is_same_amount("1", "nothing"));
        assert!(is_same_amount("nothing", "nothing"));
    }
}
