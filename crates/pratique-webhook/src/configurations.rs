//! The webhooks of one origin, compiled and in order.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_match::MatchIndex;

use crate::webhook::{Parts, Webhook};

/// The mutating webhooks of one origin, in the order in which they are called: by the name of their configuration,
/// then as that lists them.
#[derive(Debug)]
pub struct MutatingWebhooks {
    pub(crate) webhooks: Webhooks,
    pub(crate) turns: Vec<Turn>,
}

/// The validating webhooks of one origin.
#[derive(Debug)]
pub struct ValidatingWebhooks {
    pub(crate) webhooks: Webhooks,
}

/// Webhooks, whatever they do.
#[derive(Debug)]
pub(crate) struct Webhooks {
    pub(crate) origin: Origin,
    pub(crate) all: Vec<Webhook>,
    pub(crate) index: MatchIndex,
}

/// What a mutating webhook has besides.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Unique among the webhooks of one origin: `configuration/name/n`, counting those of one name from 0.
    pub(crate) uid: Arc<str>,
    /// Whether it has a second turn when others change the object after it.
    pub(crate) reinvoked: bool,
}

impl MutatingWebhooks {
    /// Compiles configurations, which must have the API's defaults.
    ///
    /// What is wrong with a webhook that was stored by another version shows when it is to be called: refusing it is the
    /// business of validation.
    pub fn compile<'c>(
        configurations: impl IntoIterator<Item = &'c api::MutatingWebhookConfiguration>,
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        let configurations = configurations.into_iter();
        let mut configurations: Vec<_> = configurations
            .map(|own| (own.metadata.name.as_deref().unwrap_or_default(), own))
            .collect();
        configurations.sort_by_key(|(name, _)| *name);
        let (mut all, mut turns) = (Vec::new(), Vec::new());
        for (name, configuration) in configurations {
            let mut named: HashMap<&str, usize> = HashMap::new();
            let configured: Arc<str> = name.into();
            for webhook in configuration.webhooks.iter().flatten() {
                let count = named.entry(webhook.name.as_str()).or_default();
                turns.push(Turn {
                    uid: format!("{name}/{}/{count}", webhook.name).into(),
                    reinvoked: webhook.reinvocation_policy.as_deref() == Some("IfNeeded"),
                });
                *count += 1;
                all.push(Webhook::compile(configured.clone(), &mutating(webhook), cache));
            }
        }
        MutatingWebhooks {
            webhooks: Webhooks::new(all, origin),
            turns,
        }
    }

    /// How many webhooks there are.
    pub fn len(&self) -> usize {
        self.webhooks.all.len()
    }

    /// Whether there is no webhook.
    pub fn is_empty(&self) -> bool {
        self.webhooks.all.is_empty()
    }

    /// Where they come from.
    pub fn origin(&self) -> Origin {
        self.webhooks.origin
    }
}

impl ValidatingWebhooks {
    /// Compiles configurations, as [`MutatingWebhooks::compile`] does.
    pub fn compile<'c>(
        configurations: impl IntoIterator<Item = &'c api::ValidatingWebhookConfiguration>,
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        let configurations = configurations.into_iter();
        let mut configurations: Vec<_> = configurations
            .map(|own| (own.metadata.name.as_deref().unwrap_or_default(), own))
            .collect();
        configurations.sort_by_key(|(name, _)| *name);
        let mut all = Vec::new();
        for (name, configuration) in configurations {
            let name: Arc<str> = name.into();
            let webhooks = configuration.webhooks.iter().flatten();
            all.extend(webhooks.map(|webhook| Webhook::compile(name.clone(), &validating(webhook), cache)));
        }
        ValidatingWebhooks {
            webhooks: Webhooks::new(all, origin),
        }
    }

    /// How many webhooks there are.
    pub fn len(&self) -> usize {
        self.webhooks.all.len()
    }

    /// Whether there is no webhook.
    pub fn is_empty(&self) -> bool {
        self.webhooks.all.is_empty()
    }

    /// Where they come from.
    pub fn origin(&self) -> Origin {
        self.webhooks.origin
    }
}

impl Webhooks {
    fn new(all: Vec<Webhook>, origin: Origin) -> Self {
        Webhooks {
            origin,
            index: MatchIndex::new(all.iter().map(|webhook| &webhook.constraints)),
            all,
        }
    }
}

fn mutating(webhook: &api::MutatingWebhook) -> Parts<'_> {
    Parts {
        name: &webhook.name,
        client_config: &webhook.client_config,
        rules: webhook.rules.as_deref(),
        match_policy: webhook.match_policy.as_deref(),
        namespace_selector: webhook.namespace_selector.as_ref(),
        object_selector: webhook.object_selector.as_ref(),
        conditions: webhook.match_conditions.as_deref(),
        failure_policy: webhook.failure_policy.as_deref(),
        side_effects: &webhook.side_effects,
        timeout_seconds: webhook.timeout_seconds,
        review_versions: &webhook.admission_review_versions,
    }
}

fn validating(webhook: &api::ValidatingWebhook) -> Parts<'_> {
    Parts {
        name: &webhook.name,
        client_config: &webhook.client_config,
        rules: webhook.rules.as_deref(),
        match_policy: webhook.match_policy.as_deref(),
        namespace_selector: webhook.namespace_selector.as_ref(),
        object_selector: webhook.object_selector.as_ref(),
        conditions: webhook.match_conditions.as_deref(),
        failure_policy: webhook.failure_policy.as_deref(),
        side_effects: &webhook.side_effects,
        timeout_seconds: webhook.timeout_seconds,
        review_versions: &webhook.admission_review_versions,
    }
}
