//! A uniform view of loaded manifests: mutating and validating policies alike, mutating and validating webhooks alike.

mod origin;
mod policy;
mod rule;
mod site;
mod webhook;

use pratique_manifest::ManifestSet;

pub(crate) use origin::{Origin, item, path};
pub(crate) use policy::{Binding, Policy};
pub(crate) use rule::RuleView;
pub(crate) use site::{Role, Site};
pub(crate) use webhook::Webhook;

/// All manifests that a server loads.
pub(crate) struct Manifests<'m> {
    pub(crate) policies: Vec<Policy<'m>>,
    pub(crate) webhooks: Vec<Webhook<'m>>,
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
}
