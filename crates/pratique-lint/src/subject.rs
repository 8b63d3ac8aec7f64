//! A uniform view of loaded manifests: mutating and validating policies alike, mutating and validating webhooks alike.

mod origin;
mod policy;
mod rule;
mod site;
mod webhook;

use pratique_manifest::ManifestSet;

pub(crate) use origin::{Origin, item, path};
pub(crate) use policy::{Binding, Policy};
pub(crate) use rule::{RuleView, matched_operations};
pub(crate) use site::Site;
pub(crate) use webhook::Webhook;

/// All manifests that a server loads.
pub(crate) struct Manifests<'m> {
    pub(crate) policies: Vec<Policy<'m>>,
    pub(crate) webhooks: Vec<Webhook<'m>>,
}

/// The expressions of one policy or webhook, which are checked together.
#[derive(Clone, Copy)]
pub(crate) struct ExpressionGroup<'a, 'm> {
    pub(crate) origin: &'a Origin<'m>,
    /// In the order in which they are declared: expressions may use variables that stand before them.
    pub(crate) sites: &'a [Site<'m>],
    /// What the policy or webhook matches.
    pub(crate) rules: &'a [RuleView<'m>],
}

impl<'m> Manifests<'m> {
    pub(crate) fn new(sets: &[&'m ManifestSet]) -> Self {
        let (mut policies, mut webhooks) = (Vec::new(), Vec::new());
        for set in sets {
            policy::collect(set, &mut policies);
            webhook::collect(set, &mut webhooks);
        }
        Manifests { policies, webhooks }
    }

    /// The expressions of all policies, then of all webhooks.
    pub(crate) fn expression_groups(&self) -> impl Iterator<Item = ExpressionGroup<'_, 'm>> {
        let policies = self.policies.iter().map(Policy::expression_group);
        let webhooks = self.webhooks.iter().map(Webhook::expression_group);
        policies.chain(webhooks)
    }
}
