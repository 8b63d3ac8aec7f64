//! What it may depend on besides the request whether webhooks are called, as their conditions and selectors tell.

use crate::configurations::Webhooks;

/// What it may depend on besides the request whether a webhook is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The name of the webhook.
    pub webhook: String,
    /// Whether it selects namespaces by labels besides that of their names.
    pub namespace_labels: bool,
    /// Whether it needs answers to authorization checks.
    pub authorizer: bool,
}

impl Webhooks {
    /// Those of which it depends on more than the request whether they are called.
    pub(crate) fn needs(&self) -> impl Iterator<Item = Need> {
        let needs = self.all.iter().map(|webhook| {
            let mut conditions = webhook.conditions.iter().flatten();
            Need {
                webhook: webhook.name.clone(),
                namespace_labels: webhook.constraints.selects_namespaces(),
                authorizer: conditions.any(|condition| condition.asks_authorizer()),
            }
        });
        needs.filter(|need| need.namespace_labels || need.authorizer)
    }
}
