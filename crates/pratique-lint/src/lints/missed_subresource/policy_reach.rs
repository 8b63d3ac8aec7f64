//! Which resources a policy is applied to: its rules and those of its bindings together.

use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::subject::{PolicyBinding, PolicyView, RuleView};

/// Whether one of the rules matches requests of an operation for a resource.
pub(super) fn matches_any(rules: &[RuleView<'_>], served: &ServedResource, operation: Operation) -> bool {
    let mut rules = rules.iter();
    rules.any(|rule| rule.operations.contains(&operation) && rule.matches(served))
}

/// Whether exclude rules leave out a resource, whatever the names of the objects.
fn is_excluded(rules: &[RuleView<'_>], served: &ServedResource, operation: Operation) -> bool {
    let mut rules = rules.iter().filter(|rule| rule.names.is_empty());
    rules.any(|rule| rule.operations.contains(&operation) && rule.matches(served))
}

/// Whether a binding leaves a resource in that its policy matches. Without rules it leaves in all.
fn includes(binding: &PolicyBinding<'_>, served: &ServedResource, operation: Operation) -> bool {
    binding.rules.is_empty() || matches_any(&binding.rules, served, operation)
}

/// Whether a policy is evaluated for requests of an operation for a resource. One without bindings is taken for one that is yet
/// to be bound.
pub(super) fn is_applied(policy: &PolicyView<'_>, served: &ServedResource, operation: Operation) -> bool {
    let mut bindings = policy.bindings.iter();
    matches_any(&policy.rules, served, operation)
        && !is_excluded(&policy.excluded, served, operation)
        && (policy.bindings.is_empty()
            || bindings.any(|binding| {
                includes(binding, served, operation) && !is_excluded(&binding.excluded, served, operation)
            }))
}

fn denies(binding: &PolicyBinding<'_>) -> bool {
    binding.actions.iter().any(|action| action == "Deny")
}

/// Whether a policy is applied to updates of a subresource too, as strictly as elsewhere, or leaves it out by an exclude rule: then
/// that is meant.
pub(super) fn covers_itself(policy: &PolicyView<'_>, part: &ServedResource) -> bool {
    const UPDATE: Operation = Operation::Update;
    if matches_any(&policy.excluded, part, UPDATE) {
        return true;
    }
    let is_denying = policy.bindings.iter().any(denies);
    let mut strict = policy
        .bindings
        .iter()
        .filter(|binding| denies(binding) || !is_denying);
    matches_any(&policy.rules, part, UPDATE)
        && (policy.bindings.is_empty()
            || strict.any(|binding| {
                includes(binding, part, UPDATE) || matches_any(&binding.excluded, part, UPDATE)
            }))
}

/// Whether another policy is applied to updates of a subresource, with a binding that denies if the first one has such.
pub(super) fn covers_as_strictly(
    other: &PolicyView<'_>,
    policy: &PolicyView<'_>,
    part: &ServedResource,
) -> bool {
    const UPDATE: Operation = Operation::Update;
    if policy.bindings.is_empty() {
        return is_applied(other, part, UPDATE);
    }
    // Mutations have no actions.
    let has_to_deny = policy.bindings.iter().any(denies) && !other.is_mutating;
    let mut bindings = other.bindings.iter();
    is_applied(other, part, UPDATE)
        && bindings.any(|binding| {
            includes(binding, part, UPDATE)
                && !is_excluded(&binding.excluded, part, UPDATE)
                && (denies(binding) || !has_to_deny)
        })
}
