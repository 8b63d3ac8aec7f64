//! Policies that are not evaluated, as they match no request of the operation by which objects are.

use k8s_openapi::api::admissionregistration::v1::NamedRuleWithOperations;
use pratique_types::Operation;

use crate::policies::OriginSets;

/// How many policies are named.
const NAMED: usize = 5;

/// A note about policies that match other operations only, if there are any; `help` says how these are evaluated.
pub(super) fn note(sets: &[&OriginSets], operation: Operation, help: &str) -> Option<String> {
    let matches = |rules: Option<&[NamedRuleWithOperations]>| {
        let operations = rules
            .into_iter()
            .flatten()
            .flat_map(|rule| rule.operations.iter().flatten());
        operations
            .into_iter()
            .any(|of| of == "*" || of == operation.as_str())
    };
    let mut names = Vec::new();
    for (_, set) in sets.iter().copied().flatten() {
        let validating = set.validating_policies.iter().map(|loaded| {
            let spec = loaded.object.spec.as_ref();
            (
                &loaded.object.metadata,
                spec.and_then(|spec| spec.match_constraints.as_ref()),
            )
        });
        let mutating = set.mutating_policies.iter().map(|loaded| {
            let spec = loaded.object.spec.as_ref();
            (
                &loaded.object.metadata,
                spec.and_then(|spec| spec.match_constraints.as_ref()),
            )
        });
        let others = validating
            .chain(mutating)
            .filter(|(_, constraints)| !matches(constraints.and_then(|of| of.resource_rules.as_deref())));
        names.extend(others.map(|(metadata, _)| metadata.name.as_deref().unwrap_or_default()));
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let (first, rest) = names.split_at(names.len().min(NAMED));
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "policies that match no {operation} are not evaluated: {}{more}; {help}",
        first.join(", ")
    ))
}
