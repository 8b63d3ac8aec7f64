//! Policies that a scan does not evaluate, as they match no request of its operation.

use k8s_openapi::api::admissionregistration::v1::NamedRuleWithOperations;
use pratique_types::Operation;

use crate::policies::OriginSets;

/// How many policies are named.
const NAMED: usize = 5;

/// Notes about policies that match other operations only.
pub(super) fn notes(sets: &OriginSets, operation: Operation) -> Vec<String> {
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
    for (_, set) in sets {
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
    if names.is_empty() {
        return Vec::new();
    }
    let (first, rest) = names.split_at(names.len().min(NAMED));
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let help = match operation {
        Operation::Create => "with --as-update, those of updates are",
        _ => "without --as-update, those of creations are",
    };
    vec![format!(
        "policies that match no {operation} are not evaluated: {}{more}; {help}",
        first.join(", ")
    )]
}
