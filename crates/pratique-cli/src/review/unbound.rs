//! Policies without a binding: reports them, or binds them.

use pratique_manifest::ManifestSet;
use pratique_policy::Origin;
use pratique_suite::{Unbound, bind, unbound};

use crate::output::text::{Text, text};
use crate::output::{self, problems};
use crate::style::{Style, Tone};
use crate::unbound::{count, message};

/// Adds bindings to all policies that have none.
pub(super) fn bound(sets: Vec<ManifestSet>) -> Vec<ManifestSet> {
    let mut sets = of_static(sets);
    bind(&mut sets);
    sets.into_iter().map(|(_, set)| set).collect()
}

fn of_static(sets: Vec<ManifestSet>) -> Vec<(Origin, ManifestSet)> {
    sets.into_iter().map(|set| (Origin::Static, set)).collect()
}

/// Which of the manifests are evaluated.
pub(super) struct EvaluationScope {
    unbound: Vec<Unbound>,
    can_deny: bool,
}

impl EvaluationScope {
    /// Inspects manifests; `webhooks` is whether webhooks are called.
    pub(super) fn of(sets: &[ManifestSet], webhooks: bool) -> Self {
        let unbound = unbound(&of_static(sets.to_vec()));
        let policies = sets
            .iter()
            .map(|set| set.validating_policies.len() + set.mutating_policies.len());
        let called = sets.iter().any(|set| {
            webhooks && (!set.validating_webhooks.is_empty() || !set.mutating_webhooks.is_empty())
        });
        EvaluationScope {
            can_deny: called || policies.sum::<usize>() > unbound.len() || unbound.is_empty(),
            unbound,
        }
    }

    /// Whether there is a policy or a webhook that can deny.
    pub(super) fn can_deny(&self) -> bool {
        self.can_deny
    }

    /// Prints warnings about policies that are not evaluated.
    pub(super) fn warn(&self) {
        let style = Style::of_stderr();
        for policy in &self.unbound {
            let place = problems::place(&policy.location);
            let warning = style.paint(Tone::Warning, "warning:");
            let message = message(policy);
            output::note(&text!(
                "{} {}: {}; --bind evaluates it as if bound\n",
                warning,
                place,
                message
            ));
        }
    }

    /// A line with the number of policies that are not evaluated.
    pub(super) fn counted(&self) -> Text {
        count(self.unbound.len()).map_or_else(Text::new, |count| text!("{}\n", count))
    }
}
