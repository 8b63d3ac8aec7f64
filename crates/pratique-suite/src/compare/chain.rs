//! Compares what the server's chain did with what is expected of it.

use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_objects::changed_paths;

use super::Difference;
use crate::actual::ActualResult;
use crate::plugin_outcome::PluginOutcome;
use crate::suite::ExpectedResult;
use pratique_review::chain::{ReviewStep, StepEffect};

/// Compares the outcomes of the request in admission plugins.
pub(super) fn plugins(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, expected) in &expected.plugins {
        let known_outcome = actual.plugins.get(name).copied();
        let outcome = known_outcome.unwrap_or(PluginOutcome::Skipped);
        if outcome == *expected {
            continue;
        }
        let why = actual.steps.iter().rev().filter(|step| step.name == *name);
        let mut why = why.filter_map(|step| match &step.did {
            StepEffect::Refused(why) | StepEffect::Undecided(why) => Some(why),
            _ => None,
        });
        let outcome_text = match why.next() {
            Some(why) => format!("{}: {why}", outcome.name()),
            None => outcome.name().to_owned(),
        };
        differences.push(Difference::new(
            format!("plugins[{name}]"),
            expected.name(),
            outcome_text,
        ));
    }
    differences
}

/// Compares the fields that parts of the chain change.
pub(super) fn changes(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, paths) in &expected.changes {
        let changed: Vec<_> = actual
            .steps
            .iter()
            .filter_map(|step| changed_by(step, name))
            .collect();
        for field in paths {
            let is_changed = |(old_object, new_object): &(&Value<'_>, &Value<'_>)| {
                field.path.find(old_object) != field.path.find(new_object)
            };
            if changed.iter().any(is_changed) {
                continue;
            }
            let actual_paths = changed
                .iter()
                .flat_map(|(old_object, new_object)| changed_paths(old_object, new_object));
            let path_texts: Vec<String> = actual_paths.map(|path| format!("object.{path}")).collect();
            let change_text = if path_texts.is_empty() {
                "nothing".to_owned()
            } else {
                path_texts.join("\n")
            };
            differences.push(Difference::new(
                format!("changes[{name}]"),
                &field.text,
                change_text,
            ));
        }
    }
    differences
}

/// The object before and after a step of something with this name, if that changed it.
fn changed_by<'s>(step: &'s ReviewStep, name: &str) -> Option<(&'s Value<'static>, &'s Value<'static>)> {
    let is_named = step.name == name || step.by.as_deref() == Some(name);
    match &step.did {
        StepEffect::Changed {
            old_object,
            new_object,
        } if is_named => Some((old_object, new_object)),
        _ => None,
    }
}

/// Compares what is used of quotas.
pub(super) fn quotas(expected: &ExpectedResult, actual: &ActualResult) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, amounts) in &expected.quotas {
        let Some(used) = actual.quotas.get(&actual.quota_key(name)) else {
            let all: Vec<&str> = actual.quotas.keys().map(String::as_str).collect();
            let known_quotas = if all.is_empty() {
                "no quota is known".to_owned()
            } else {
                format!("no such quota among {}", all.join(", "))
            };
            differences.push(Difference::new(
                format!("quotas[{name}]"),
                "a quota",
                known_quotas,
            ));
            continue;
        };
        for (resource, expected) in amounts {
            let amount = used.get(resource).map_or("nothing", String::as_str);
            if !is_same_amount(expected, amount) {
                let field = format!("quotas[{name}][{resource}]");
                differences.push(Difference::new(field, expected, amount));
            }
        }
    }
    differences
}

/// Whether two texts are the same amount: `0.5` is `500m`.
fn is_same_amount(expected: &str, actual: &str) -> bool {
    match (Quantity::parse(expected), Quantity::parse(actual)) {
        (Ok(expected), Ok(actual)) => expected == actual,
        _ => expected == actual,
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
