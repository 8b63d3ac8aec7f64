//! A uniform view of loaded manifests: mutating and validating policies alike, mutating and validating webhooks alike.

mod definition;
mod origin;
mod policy;
mod rule;
mod site;
mod webhook;

use pratique_manifest::ManifestSet;
use pratique_schema::Release;

pub(crate) use definition::{DefinitionRule, DefinitionView, RuleFailure};
pub(crate) use origin::{ObjectOrigin, item, path};
pub(crate) use policy::{PolicyBinding, PolicyView};
pub(crate) use rule::{RuleView, matched_operations};
pub(crate) use site::ExpressionSite;
pub(crate) use webhook::WebhookView;

/// All manifests that a server loads.
pub(crate) struct ManifestView<'m> {
    /// The release of the server.
    pub(crate) release: &'static Release,
    pub(crate) policies: Vec<PolicyView<'m>>,
    pub(crate) webhooks: Vec<WebhookView<'m>>,
}

/// The expressions of one policy or webhook, which are checked together.
#[derive(Clone, Copy)]
pub(crate) struct ExpressionGroup<'a, 'm> {
    /// The release of the server.
    pub(crate) release: &'static Release,
    pub(crate) origin: &'a ObjectOrigin<'m>,
    /// In the order in which they are declared: expressions may use variables that stand before them.
    pub(crate) sites: &'a [ExpressionSite<'m>],
    /// What the policy or webhook matches.
    pub(crate) rules: &'a [RuleView<'m>],
}

impl<'m> ManifestView<'m> {
    pub(crate) fn new(release: &'static Release, sets: &[&'m ManifestSet]) -> Self {
        let (mut policies, mut webhooks) = (Vec::new(), Vec::new());
        for set in sets {
            policy::collect(release, set, &mut policies);
            webhook::collect(release, set, &mut webhooks);
        }
        ManifestView {
            release,
            policies,
            webhooks,
        }
    }

    /// The expressions of all policies, then of all webhooks.
    pub(crate) fn expression_groups(&self) -> impl Iterator<Item = ExpressionGroup<'_, 'm>> {
        let policies = self.policies.iter().map(PolicyView::expression_group);
        let webhooks = self.webhooks.iter().map(WebhookView::expression_group);
        policies.chain(webhooks)
    }
}
