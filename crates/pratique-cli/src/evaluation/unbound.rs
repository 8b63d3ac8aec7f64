//! Policies without a binding, and bindings without a policy: reports them.

use pratique_review::{OrphanBinding, PolicyWithoutBinding, orphans, unbound};

use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::output::text::{PrintableText, text};
use crate::output::{self, problems};
use crate::policies::OriginSets;
use crate::unbound::{count, messages};

/// Which of the manifests are evaluated.
pub(crate) struct EvaluationScope {
    unbound: Vec<PolicyWithoutBinding>,
    orphans: Vec<OrphanBinding>,
    can_deny: bool,
}

impl EvaluationScope {
    /// Inspects manifests; `webhooks` is whether webhooks are called.
    pub(crate) fn new(sets: &OriginSets, webhooks: bool) -> Self {
        let (unbound, orphans) = (unbound(sets), orphans(sets));
        let policies = sets
            .iter()
            .map(|(_, set)| set.validating_policies.len() + set.mutating_policies.len());
        let called = sets.iter().any(|(_, set)| {
            webhooks && (!set.validating_webhooks.is_empty() || !set.mutating_webhooks.is_empty())
        });
        EvaluationScope {
            can_deny: called
                || policies.sum::<usize>() > unbound.len()
                || (unbound.is_empty() && orphans.is_empty()),
            unbound,
            orphans,
        }
    }

    /// Whether there is a policy or a webhook that can deny.
    pub(crate) fn can_deny(&self) -> bool {
        self.can_deny
    }

    /// Prints warnings about policies and bindings that are not evaluated.
    pub(crate) fn warn(&self) {
        self.notices()
            .for_each(|notice| output::eprint(&notice.to_text()));
    }

    /// The policies and bindings that are not evaluated.
    pub(crate) fn notices(&self) -> impl Iterator<Item = InputNotice> {
        let messages = messages(&self.unbound);
        // A message is about one of them, or about all.
        let them = if messages.len() == self.unbound.len() {
            "it"
        } else {
            "them"
        };
        let policies = messages.into_iter().map(move |(policy, message)| {
            let message = format!("{message}; --bind evaluates {them} as if bound");
            InputNotice::new(NOT_EVALUATED, problems::place(&policy.location), message)
        });
        let bindings = self.orphans.iter().map(|binding| {
            let OrphanBinding {
                kind, name, policy, ..
            } = binding;
            let message = format!("{kind} {name} is not evaluated: there is no policy {policy}");
            InputNotice::new(NOT_EVALUATED, problems::place(&binding.location), message)
        });
        policies.chain(bindings)
    }

    /// The number of policies that are not evaluated.
    pub(crate) fn unbound_count(&self) -> usize {
        self.unbound.len()
    }

    /// The number of policies that are not evaluated, as a message; `None` if there are none.
    pub(crate) fn count(&self) -> Option<String> {
        count(self.unbound.len())
    }

    /// A line with the number of policies that are not evaluated.
    pub(crate) fn counted(&self) -> PrintableText {
        self.count()
            .map_or_else(PrintableText::new, |count| text!("{}\n", count))
    }
}
