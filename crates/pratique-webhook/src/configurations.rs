//! The webhooks of one origin, compiled and in order.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_core::{DecisionNeed, NeedKind, Origin};
use pratique_expression::Cache;
use pratique_match::MatchIndex;

use crate::caller::Endpoint;
use crate::webhook::{CompiledWebhook, ReinvocableWebhook, WebhookFields};

/// The webhooks of one origin and phase.
#[derive(Debug)]
pub(crate) struct WebhookSet {
    pub(crate) origin: Origin,
    pub(crate) all: Vec<Arc<CompiledWebhook>>,
    pub(crate) index: MatchIndex,
}

/// A configuration and its webhooks.
#[derive(Debug)]
struct CompiledConfiguration<C> {
    /// The configuration, where it is shared: it is not compiled again while it stays the same.
    source: Option<Arc<C>>,
    webhooks: Arc<[Arc<CompiledWebhook>]>,
}

/// A mutating or a validating webhook configuration.
trait WebhookConfiguration {
    fn name(&self) -> &str;

    fn compile(&self, cache: &Cache) -> Arc<[Arc<CompiledWebhook>]>;
}

impl WebhookConfiguration for api::MutatingWebhookConfiguration {
    fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    fn compile(&self, cache: &Cache) -> Arc<[Arc<CompiledWebhook>]> {
        let configuration: Arc<str> = self.name().into();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let webhooks = self.webhooks.iter().flatten().map(|webhook| {
            let count = counts.entry(webhook.name.as_str()).or_default();
            let reinvocable = ReinvocableWebhook {
                uid: format!("{configuration}/{}/{count}", webhook.name).into(),
                if_needed: webhook.reinvocation_policy.as_deref() == Some("IfNeeded"),
            };
            *count += 1;
            let compiled = CompiledWebhook::compile(configuration.clone(), &mutating(webhook), cache);
            Arc::new(CompiledWebhook {
                reinvocable: Some(reinvocable),
                ..compiled
            })
        });
        webhooks.collect()
    }
}

impl WebhookConfiguration for api::ValidatingWebhookConfiguration {
    fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    fn compile(&self, cache: &Cache) -> Arc<[Arc<CompiledWebhook>]> {
        let configuration: Arc<str> = self.name().into();
        let webhooks = self.webhooks.iter().flatten();
        let compile = |webhook| CompiledWebhook::compile(configuration.clone(), &validating(webhook), cache);
        webhooks.map(compile).map(Arc::new).collect()
    }
}

macro_rules! webhook_set {
    ($(#[$documentation:meta])* $name:ident, $configuration:ty) => {
        $(#[$documentation])*
        #[derive(Debug)]
        pub struct $name {
            pub(crate) webhooks: WebhookSet,
            configurations: Vec<CompiledConfiguration<$configuration>>,
        }

        impl $name {
            /// Compiles configurations, which must have the API's defaults.
            ///
            /// An error in a webhook that another version stored shows when the webhook is called: rejecting it is the task of
            /// validation.
            pub fn compile<'c>(
                configurations: impl IntoIterator<Item = &'c $configuration>,
                origin: Origin,
                cache: &Cache,
            ) -> Self {
                let configurations = configurations.into_iter();
                let configurations = configurations.map(|configuration| (None, configuration));
                Self::new(compile(configurations, &[], cache), origin)
            }

            /// Compiles configurations, and reuses the webhooks of those that these were compiled from.
            pub fn recompile<'c>(
                &self,
                configurations: impl IntoIterator<Item = &'c Arc<$configuration>>,
                cache: &Cache,
            ) -> Self {
                let configurations = configurations.into_iter();
                let configurations = configurations.map(|shared| (Some(shared), &**shared));
                Self::new(compile(configurations, &self.configurations, cache), self.origin())
            }

            fn new(configurations: Vec<CompiledConfiguration<$configuration>>, origin: Origin) -> Self {
                let webhooks = configurations.iter().flat_map(|compiled| compiled.webhooks.iter());
                $name {
                    webhooks: WebhookSet::new(webhooks.cloned().collect(), origin),
                    configurations,
                }
            }

            /// The dependencies of the match of these webhooks besides requests.
            pub fn needs(&self) -> impl Iterator<Item = DecisionNeed> {
                self.webhooks.needs()
            }

            /// The endpoints of these webhooks.
            pub fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
                self.webhooks.endpoints()
            }

            /// The number of webhooks.
            pub fn len(&self) -> usize {
                self.webhooks.all.len()
            }

            /// Whether there are no webhooks.
            pub fn is_empty(&self) -> bool {
                self.webhooks.all.is_empty()
            }

            /// Where they come from.
            pub fn origin(&self) -> Origin {
                self.webhooks.origin
            }
        }
    };
}

webhook_set!(
    /// The mutating webhooks of one origin, in the order in which they are called: by the name of their configuration, then
    /// as that lists them.
    MutatingWebhooks,
    api::MutatingWebhookConfiguration
);

webhook_set!(
    /// The validating webhooks of one origin.
    ValidatingWebhooks,
    api::ValidatingWebhookConfiguration
);

impl WebhookSet {
    fn new(all: Vec<Arc<CompiledWebhook>>, origin: Origin) -> Self {
        WebhookSet {
            origin,
            index: MatchIndex::new(all.iter().map(|webhook| &webhook.constraints)),
            all,
        }
    }

    fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        let endpoints = self.all.iter().map(|webhook| webhook.location.endpoint.as_ref());
        endpoints.filter_map(Result::ok)
    }

    fn needs(&self) -> impl Iterator<Item = DecisionNeed> {
        self.all.iter().flat_map(|webhook| {
            let mut conditions = webhook.conditions.iter().flatten();
            let labels = webhook.constraints.selects_namespaces();
            let authorizer = conditions.any(|condition| condition.asks_authorizer());
            let needs = [
                labels.then_some(NeedKind::NamespaceLabels),
                authorizer.then_some(NeedKind::Authorizer),
            ];
            let needs = needs.into_iter().flatten();
            needs.map(|kind| DecisionNeed::new(&webhook.name, kind))
        })
    }
}

/// Compiles configurations in the order of their names, and reuses compiled ones.
fn compile<'c, C: WebhookConfiguration + 'c>(
    configurations: impl Iterator<Item = (Option<&'c Arc<C>>, &'c C)>,
    previous: &[CompiledConfiguration<C>],
    cache: &Cache,
) -> Vec<CompiledConfiguration<C>> {
    let previous: HashMap<*const C, &CompiledConfiguration<C>> = previous
        .iter()
        .filter_map(|compiled| Some((Arc::as_ptr(compiled.source.as_ref()?), compiled)))
        .collect();
    let mut configurations: Vec<_> = configurations.collect();
    configurations.sort_by_key(|(_, configuration)| configuration.name());
    let compile = |(source, configuration): (Option<&Arc<C>>, &C)| {
        let compiled = source.and_then(|source| previous.get(&Arc::as_ptr(source)));
        CompiledConfiguration {
            source: source.cloned(),
            webhooks: compiled.map_or_else(
                || configuration.compile(cache),
                |compiled| compiled.webhooks.clone(),
            ),
        }
    };
    configurations.into_iter().map(compile).collect()
}

/// The fields of a webhook of either phase; their types have no trait in common.
macro_rules! fields_of {
    ($webhook:ident) => {
        WebhookFields {
            name: &$webhook.name,
            client_config: &$webhook.client_config,
            rules: $webhook.rules.as_deref(),
            match_policy: $webhook.match_policy.as_deref(),
            namespace_selector: $webhook.namespace_selector.as_ref(),
            object_selector: $webhook.object_selector.as_ref(),
            conditions: $webhook.match_conditions.as_deref(),
            failure_policy: $webhook.failure_policy.as_deref(),
            side_effects: &$webhook.side_effects,
            timeout_seconds: $webhook.timeout_seconds,
            review_versions: &$webhook.admission_review_versions,
        }
    };
}

fn mutating(webhook: &api::MutatingWebhook) -> WebhookFields<'_> {
    fields_of!(webhook)
}

fn validating(webhook: &api::ValidatingWebhook) -> WebhookFields<'_> {
    fields_of!(webhook)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn configuration(name: &str, hosts: &[&str]) -> Arc<api::ValidatingWebhookConfiguration> {
        let webhook = |host: &&str| json!({"name": "h", "clientConfig": {"url": format!("https://{host}/")}});
        let webhooks: Vec<_> = hosts.iter().map(webhook).collect();
        let all = json!({"metadata": {"name": name}, "webhooks": webhooks});
        Arc::new(serde_json::from_value(all).unwrap())
    }

    #[test]
    fn webhooks_of_unchanged_configurations_are_reused() {
        let cache = Cache::new();
        let (a, b, c) = (
            configuration("a", &["one", "two"]),
            configuration("b", &["three"]),
            configuration("c", &["four"]),
        );
        let none = ValidatingWebhooks::compile([], Origin::Api, &cache);
        let first = none.recompile([&b, &a], &cache);
        let other = configuration("a", &["one", "two"]);
        let second = first.recompile([&c, &b, &other], &cache);
        let hosts: Vec<&str> = second.endpoints().map(|endpoint| endpoint.url.as_str()).collect();
        assert_eq!(
            hosts,
            ["https://one/", "https://two/", "https://three/", "https://four/"]
        );
        let same = |at: usize| Arc::ptr_eq(&first.webhooks.all[at], &second.webhooks.all[at]);
        assert_eq!([same(0), same(1), same(2)], [false, false, true]);
    }
}
