//! Policies that are not evaluated, as they match no request of the operation by which objects are.

use pratique_review::resource_rules;
use pratique_types::Operation;

use crate::output::counted_nouns::first_names;
use crate::policies::{NAMED, OriginSets};

/// A note about policies that match other operations only, if there are any; `help` says how these are evaluated.
pub(crate) fn note(sets: &[&OriginSets], operation: Operation, help: &str) -> Option<String> {
    let all = sets.iter().copied().flatten();
    let all = all.flat_map(|(_, set)| resource_rules(set));
    let others = all.filter(|(_, rules)| {
        let mut operations = rules.iter().flat_map(|rule| rule.operations.iter().flatten());
        !operations.any(|of| of == "*" || of == operation.as_str())
    });
    let mut names: Vec<&str> = others.map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        let named = first_names(&names, NAMED);
        format!("policies that match no {operation} are not evaluated: {named}; {help}")
    })
}
