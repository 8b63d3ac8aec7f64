//! Messages about policies without a binding. Of a library of policies none has one: a message with their number tells as much
//! as one for each.

use pratique_lint::Warning;
use pratique_manifest::Help;
use pratique_review::PolicyWithoutBinding;

use crate::output::counted_nouns::{counted, first_names};

/// The lint that warns of them.
const LINT: &str = "unbound-policy";

/// Up to how many have a message each.
const MAX_APART: usize = 3;

/// The message for a policy.
pub(crate) fn message(policy: &PolicyWithoutBinding) -> String {
    format!("{} {} is not evaluated: no binding", policy.kind(), policy.name)
}

/// The messages for some policies, with the first one that each is about.
pub(crate) fn messages(policies: &[PolicyWithoutBinding]) -> Vec<(&PolicyWithoutBinding, String)> {
    match policies {
        [first, ..] if policies.len() > MAX_APART => {
            let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
            let message = format!(
                "{} are not evaluated, as no binding refers to them: {}",
                counted(policies.len(), "policy", "policies"),
                first_names(&names, MAX_APART)
            );
            vec![(first, message)]
        }
        _ => policies.iter().map(|policy| (policy, message(policy))).collect(),
    }
}

/// The message with their number; `None` if there are none.
pub(crate) fn count(count: usize) -> Option<String> {
    let policies = counted(count, "policy", "policies");
    (count > 0).then(|| format!("{policies} not evaluated: no binding"))
}

/// Warnings with one in the place of many about policies without a binding, where the first of these is.
pub(crate) fn group_warnings(warnings: Vec<Warning>) -> Vec<Warning> {
    let unbound = warnings.iter().filter(|warning| warning.lint.name == LINT);
    let objects = unbound.filter_map(|warning| warning.object.as_ref());
    let names: Vec<&str> = objects.map(|object| object.name.as_str()).collect();
    if names.len() <= MAX_APART {
        return warnings;
    }
    let mut message = Some(format!(
        "no binding refers to {}: they are never evaluated: {}",
        counted(names.len(), "policy", "policies"),
        first_names(&names, MAX_APART)
    ));
    let mut grouped = Vec::with_capacity(warnings.len());
    for warning in warnings {
        if warning.lint.name != LINT {
            grouped.push(warning);
        } else if let Some(message) = message.take() {
            grouped.push(Warning {
                message,
                object: None,
                help: Some(Help::new("add a binding with policyName for each")),
                ..warning
            });
        }
    }
    grouped
}
