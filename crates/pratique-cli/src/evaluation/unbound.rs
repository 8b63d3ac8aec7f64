//! Policies without a binding or whose feature gate is off, and bindings without a policy: reports them.

use pratique_review::{OrphanBinding, PolicyWithoutBinding, count_policies, orphans, unbound};
use pratique_schema::FeatureGates;

use crate::evaluation::switched_off::SwitchedOffPolicies;
use crate::output::notice::{InputNotice, NOT_EVALUATED};
use crate::output::text::{PrintableText, text};
use crate::output::{self, problems};
use crate::policies::OriginSets;
use crate::unbound::{count, messages};

/// Which of the manifests are evaluated.
pub(crate) struct EvaluationScope {
    unbound: Vec<PolicyWithoutBinding>,
    orphans: Vec<OrphanBinding>,
    switched_off: SwitchedOffPolicies,
    can_deny: bool,
}

impl EvaluationScope {
    /// Inspects manifests, for a server with some feature gates; `webhooks` is whether webhooks are called.
    pub(crate) fn new(sets: &OriginSets, gates: FeatureGates, webhooks: bool) -> Self {
        let (unbound, orphans) = (unbound(sets), orphans(sets));
        let switched_off = SwitchedOffPolicies::new(sets, gates);
        let left_out = unbound.len() + switched_off.count();
        let called = sets.iter().any(|(_, set)| {
            webhooks && (!set.validating_webhooks.is_empty() || !set.mutating_webhooks.is_empty())
        });
        EvaluationScope {
            can_deny: called || count_policies(sets) > left_out || (left_out == 0 && orphans.is_empty()),
            unbound,
            orphans,
            switched_off,
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
        policies.chain(bindings).chain(self.switched_off.notices())
    }

    /// The policies whose feature gate is off.
    pub(crate) fn switched_off(&self) -> &SwitchedOffPolicies {
        &self.switched_off
    }

    /// The number of policies without a binding.
    pub(crate) fn unbound_count(&self) -> usize {
        self.unbound.len()
    }

    /// The numbers of policies that are not evaluated, as messages.
    pub(crate) fn counts(&self) -> impl Iterator<Item = String> {
        count(self.unbound.len())
            .into_iter()
            .chain(self.switched_off.counted())
    }

    /// A line with each number of policies that are not evaluated.
    pub(crate) fn counted(&self) -> PrintableText {
        let mut lines = PrintableText::new();
        self.counts().for_each(|count| lines.push(&text!("{}\n", count)));
        lines
    }
}
