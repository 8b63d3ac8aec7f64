//! The webhooks of one origin, compiled and in order.

use std::collections::HashMap;
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_match::MatchIndex;

use crate::caller::Endpoint;
use crate::needs::Need;
use crate::webhook::{Parts, Webhook};

/// The mutating webhooks of one origin, in the order in which they are called: by the name of their configuration,
/// then as that lists them.
#[derive(Debug)]
pub struct MutatingWebhooks {
    pub(crate) webhooks: Webhooks,
    pub(crate) turns: Vec<Turn>,
    made: Vec<Made<api::MutatingWebhookConfiguration, (Arc<Webhook>, Turn)>>,
}

/// The validating webhooks of one origin.
#[derive(Debug)]
pub struct ValidatingWebhooks {
    pub(crate) webhooks: Webhooks,
    made: Vec<Made<api::ValidatingWebhookConfiguration, Arc<Webhook>>>,
}

/// Webhooks, whatever they do.
#[derive(Debug)]
pub(crate) struct Webhooks {
    pub(crate) origin: Origin,
    pub(crate) all: Vec<Arc<Webhook>>,
    pub(crate) index: MatchIndex,
}

/// What a configuration became.
#[derive(Debug)]
struct Made<C, W> {
    /// Where it is known, so that it need not be compiled again while it stays the same.
    of: Option<Arc<C>>,
    webhooks: Arc<[W]>,
}

/// What a mutating webhook has besides.
#[derive(Clone, Debug)]
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
        let made = configurations.into_iter().map(|own| (None, own));
        Self::made(made, &[], origin, cache)
    }

    /// Compiles configurations anew, except for those that these were made of: their webhooks are taken over.
    pub fn renew<'c>(
        &self,
        configurations: impl IntoIterator<Item = &'c Arc<api::MutatingWebhookConfiguration>>,
        cache: &Cache,
    ) -> Self {
        let made = configurations.into_iter().map(|own| (Some(own), &**own));
        Self::made(made, &self.made, self.origin(), cache)
    }

    fn made<'c>(
        configurations: impl Iterator<
            Item = (
                Option<&'c Arc<api::MutatingWebhookConfiguration>>,
                &'c api::MutatingWebhookConfiguration,
            ),
        >,
        known: &[Made<api::MutatingWebhookConfiguration, (Arc<Webhook>, Turn)>],
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        let name = |own: &'c api::MutatingWebhookConfiguration| own.metadata.name.as_deref();
        let made = make(configurations, known, name, |name, configuration| {
            let mut named: HashMap<&str, usize> = HashMap::new();
            let configured: Arc<str> = name.into();
            let webhooks = configuration.webhooks.iter().flatten().map(|webhook| {
                let count = named.entry(webhook.name.as_str()).or_default();
                let turn = Turn {
                    uid: format!("{name}/{}/{count}", webhook.name).into(),
                    reinvoked: webhook.reinvocation_policy.as_deref() == Some("IfNeeded"),
                };
                *count += 1;
                let compiled = Webhook::compile(configured.clone(), &mutating(webhook), cache);
                (Arc::new(compiled), turn)
            });
            webhooks.collect()
        });
        let all = made.iter().flat_map(|own| own.webhooks.iter().cloned());
        let (all, turns) = all.unzip();
        MutatingWebhooks {
            webhooks: Webhooks::new(all, origin),
            turns,
            made,
        }
    }

    /// Those of which it depends on more than the request whether they are called.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        self.webhooks.needs()
    }

    /// Where they are.
    pub fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.webhooks.endpoints()
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
        let made = configurations.into_iter().map(|own| (None, own));
        Self::made(made, &[], origin, cache)
    }

    /// Compiles configurations anew, as [`MutatingWebhooks::renew`] does.
    pub fn renew<'c>(
        &self,
        configurations: impl IntoIterator<Item = &'c Arc<api::ValidatingWebhookConfiguration>>,
        cache: &Cache,
    ) -> Self {
        let made = configurations.into_iter().map(|own| (Some(own), &**own));
        Self::made(made, &self.made, self.origin(), cache)
    }

    fn made<'c>(
        configurations: impl Iterator<
            Item = (
                Option<&'c Arc<api::ValidatingWebhookConfiguration>>,
                &'c api::ValidatingWebhookConfiguration,
            ),
        >,
        known: &[Made<api::ValidatingWebhookConfiguration, Arc<Webhook>>],
        origin: Origin,
        cache: &Cache,
    ) -> Self {
        let name = |own: &'c api::ValidatingWebhookConfiguration| own.metadata.name.as_deref();
        let made = make(configurations, known, name, |name, configuration| {
            let name: Arc<str> = name.into();
            let webhooks = configuration.webhooks.iter().flatten();
            let compile = |webhook| Webhook::compile(name.clone(), &validating(webhook), cache);
            webhooks.map(compile).map(Arc::new).collect()
        });
        let all = made.iter().flat_map(|own| own.webhooks.iter().cloned());
        ValidatingWebhooks {
            webhooks: Webhooks::new(all.collect(), origin),
            made,
        }
    }

    /// Those of which it depends on more than the request whether they are called.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        self.webhooks.needs()
    }

    /// Where they are.
    pub fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.webhooks.endpoints()
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
    fn new(all: Vec<Arc<Webhook>>, origin: Origin) -> Self {
        Webhooks {
            origin,
            index: MatchIndex::new(all.iter().map(|webhook| &webhook.constraints)),
            all,
        }
    }

    fn endpoints(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        let endpoints = self.all.iter().map(|webhook| webhook.location.endpoint.as_ref());
        endpoints.filter_map(Result::ok)
    }
}

/// Compiles configurations by their names' order, except for those that are known.
fn make<'c, C: 'c, W>(
    configurations: impl Iterator<Item = (Option<&'c Arc<C>>, &'c C)>,
    known: &[Made<C, W>],
    name: impl Fn(&'c C) -> Option<&'c str>,
    compile: impl Fn(&'c str, &'c C) -> Arc<[W]>,
) -> Vec<Made<C, W>> {
    let known: HashMap<*const C, &Made<C, W>> = known
        .iter()
        .filter_map(|made| Some((Arc::as_ptr(made.of.as_ref()?), made)))
        .collect();
    let mut configurations: Vec<_> = configurations
        .map(|(of, own)| (name(own).unwrap_or_default(), of, own))
        .collect();
    configurations.sort_by_key(|(name, ..)| *name);
    let make = |(name, of, own): (&'c str, Option<&'c Arc<C>>, &'c C)| {
        let made = of.and_then(|of| known.get(&Arc::as_ptr(of)));
        Made {
            of: of.cloned(),
            webhooks: made.map_or_else(|| compile(name, own), |made| made.webhooks.clone()),
        }
    };
    configurations.into_iter().map(make).collect()
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
    fn webhooks_of_what_stays_are_taken_over() {
        let cache = Cache::new();
        let (a, b, c) = (
            configuration("a", &["one", "two"]),
            configuration("b", &["three"]),
            configuration("c", &["four"]),
        );
        let none = ValidatingWebhooks::compile([], Origin::Api, &cache);
        let first = none.renew([&b, &a], &cache);
        let other = configuration("a", &["one", "two"]);
        let second = first.renew([&c, &b, &other], &cache);
        let hosts: Vec<&str> = second.endpoints().map(|own| own.url.as_str()).collect();
        assert_eq!(
            hosts,
            ["https://one/", "https://two/", "https://three/", "https://four/"]
        );
        let same = |at: usize| Arc::ptr_eq(&first.webhooks.all[at], &second.webhooks.all[at]);
        assert_eq!([same(0), same(1), same(2)], [false, false, true]);
    }
}
