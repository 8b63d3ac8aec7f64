//! Webhooks of both kinds.

use pratique_expression::Declarations;
use pratique_manifest::{Kind, ManifestSet, Step};

use super::origin::{Origin, item, path};
use super::policy::condition_sites;
use super::rule::RuleView;
use super::site::Site;

/// A webhook.
pub(crate) struct Webhook<'m> {
    pub(crate) origin: Origin<'m>,
    /// The path in its configuration.
    pub(crate) path: Vec<Step>,
    pub(crate) name: &'m str,
    pub(crate) rules: Vec<RuleView<'m>>,
    pub(crate) conditions: Vec<Site<'m>>,
    /// The certificate authorities of its certificate, which should be PEM.
    pub(crate) ca_bundle: Option<&'m [u8]>,
    /// The timeout in seconds.
    pub(crate) timeout: u32,
    /// Whether it is reinvoked after others changed the object.
    pub(crate) reinvoked: bool,
}

impl Webhook<'_> {
    pub(crate) fn is_mutating(&self) -> bool {
        self.origin.name.kind == Kind::MutatingWebhookConfiguration
    }
}

/// Reads the fields that both kinds of webhooks have.
macro_rules! webhook {
    ($webhook:expr, $origin:expr, $index:expr, $reinvoked:expr) => {{
        let at = item(&path(&["webhooks"]), $index, "");
        let mut rules = at.clone();
        rules.push(Step::Field("rules".to_owned()));
        let mut conditions = at.clone();
        conditions.push(Step::Field("matchConditions".to_owned()));
        let declarations = Declarations {
            authorizer: true,
            ..Declarations::default()
        };
        Webhook {
            rules: RuleView::of_webhook(&$webhook.rules, &rules),
            conditions: condition_sites(&$webhook.match_conditions, &conditions, declarations),
            ca_bundle: $webhook
                .client_config
                .ca_bundle
                .as_ref()
                .map(|bytes| bytes.0.as_slice()),
            timeout: $webhook
                .timeout_seconds
                .and_then(|seconds| u32::try_from(seconds).ok())
                .unwrap_or(10),
            reinvoked: $reinvoked,
            name: &$webhook.name,
            path: at,
            origin: $origin,
        }
    }};
}

pub(super) fn collect<'m>(set: &'m ManifestSet, webhooks: &mut Vec<Webhook<'m>>) {
    for loaded in &set.mutating_webhooks {
        let (kind, name) = (Kind::MutatingWebhookConfiguration, &loaded.object.metadata.name);
        for (index, webhook) in loaded.object.webhooks.iter().flatten().enumerate() {
            let reinvoked = webhook.reinvocation_policy.as_deref() == Some("IfNeeded");
            webhooks.push(webhook!(
                webhook,
                Origin::new(kind, name, &loaded.source),
                index,
                reinvoked
            ));
        }
    }
    for loaded in &set.validating_webhooks {
        let (kind, name) = (Kind::ValidatingWebhookConfiguration, &loaded.object.metadata.name);
        for (index, webhook) in loaded.object.webhooks.iter().flatten().enumerate() {
            webhooks.push(webhook!(
                webhook,
                Origin::new(kind, name, &loaded.source),
                index,
                false
            ));
        }
    }
}
