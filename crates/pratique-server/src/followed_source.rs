//! A followed source of admission configuration.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use pratique::Configurations;
use pratique::live::SourceNotifier;
use pratique_manifest::ManifestPlugin;
use pratique_types::admissionregistration::WebhookClientConfig;

use crate::configz::{ReloadAttempt, Source};
use crate::registration::Endpoint;

/// The admission configuration of a cluster, without the webhooks of this server itself, which would call themselves
/// recursively. Clones share their state.
#[derive(Clone)]
pub struct FollowedSource(Arc<FollowedInner>);

struct FollowedInner {
    source: Box<dyn pratique::live::Source>,
    location: String,
    /// The endpoint of this server.
    endpoint: Endpoint,
    last: Mutex<Option<FilteredConfiguration>>,
}

/// The last configuration, and what is left of it.
#[derive(Clone)]
struct FilteredConfiguration {
    original: Arc<Configurations>,
    filtered: Arc<Configurations>,
    at: SystemTime,
}

impl FollowedSource {
    /// Follows a source, which is reported as `location`. API servers reach this server at `endpoint`.
    pub fn new(source: impl pratique::live::Source + 'static, location: &str, endpoint: Endpoint) -> Self {
        FollowedSource(Arc::new(FollowedInner {
            source: Box::new(source),
            location: location.to_owned(),
            endpoint,
            last: Mutex::default(),
        }))
    }

    /// The sources to report, one for each plugin with objects.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let Some(last) = self.last() else {
            return Vec::new();
        };
        let all = names(&last.filtered).into_iter();
        let all = all.filter(|(_, names)| !names.is_empty());
        all.map(|(plugin, names)| Source {
            plugin: plugin.name().into(),
            location: self.0.location.clone(),
            hash: String::new(),
            names,
            loaded: last.at,
            last_reload: ReloadAttempt {
                at: last.at,
                error: None,
            },
        })
        .collect()
    }

    fn last(&self) -> Option<FilteredConfiguration> {
        let original = self.0.source.current()?;
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref()
            && Arc::ptr_eq(&last.original, &original)
        {
            return Some(last.clone());
        }
        let next = FilteredConfiguration {
            filtered: without_webhooks_of(&self.0.endpoint, &original),
            original,
            at: SystemTime::now(),
        };
        *last = Some(next.clone());
        Some(next)
    }
}

impl pratique::live::Source for FollowedSource {
    fn current(&self) -> Option<Arc<Configurations>> {
        self.last().map(|last| last.filtered)
    }

    fn subscribe(&self, changed: SourceNotifier) {
        self.0.source.subscribe(changed);
    }

    fn has_ended(&self) -> bool {
        self.0.source.has_ended()
    }

    fn stop(&self) {
        self.0.source.stop();
    }
}

impl fmt::Debug for FollowedSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Followed")
            .field("location", &self.0.location)
            .finish_non_exhaustive()
    }
}

/// The configuration without the webhooks that call this endpoint, and without webhook configurations that have no others.
/// The same object if there are none.
fn without_webhooks_of(endpoint: &Endpoint, original: &Arc<Configurations>) -> Arc<Configurations> {
    let mut filtered = Configurations::clone(original);
    let mutating = remove_webhooks(
        &mut filtered.mutating_webhooks,
        |configuration| &configuration.webhooks,
        |configuration| &mut configuration.webhooks,
        |webhook| endpoint.is_called_by(&webhook.client_config),
    );
    let validating = remove_webhooks(
        &mut filtered.validating_webhooks,
        |configuration| &configuration.webhooks,
        |configuration| &mut configuration.webhooks,
        |webhook| endpoint.is_called_by(&webhook.client_config),
    );
    if mutating || validating {
        Arc::new(filtered)
    } else {
        original.clone()
    }
}

/// Removes matching webhooks from configurations of either kind, and configurations that have no others. Returns whether
/// there were any.
fn remove_webhooks<C: Clone, W>(
    configurations: &mut Vec<Arc<C>>,
    webhooks: impl Fn(&C) -> &Option<Vec<W>>,
    webhooks_mut: impl Fn(&mut C) -> &mut Option<Vec<W>>,
    matches: impl Fn(&W) -> bool,
) -> bool {
    let mut is_changed = false;
    configurations.retain_mut(|configuration| {
        if !webhooks(configuration).iter().flatten().any(&matches) {
            return true;
        }
        is_changed = true;
        let kept = webhooks_mut(Arc::make_mut(configuration)).get_or_insert_default();
        kept.retain(|webhook| !matches(webhook));
        !kept.is_empty()
    });
    is_changed
}

impl Endpoint {
    /// Whether a webhook with this client configuration calls this endpoint.
    fn is_called_by(&self, client: &WebhookClientConfig) -> bool {
        match self {
            Endpoint::Service { namespace, name, .. } => client
                .service
                .as_ref()
                .is_some_and(|service| service.namespace == *namespace && service.name == *name),
            Endpoint::Url(url) => {
                let url = url.trim_end_matches('/');
                let rest = client.url.as_ref().and_then(|client| client.strip_prefix(url));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
            }
        }
    }
}

/// The names of policies and webhook configurations.
fn names(all: &Configurations) -> [(ManifestPlugin, Vec<String>); 4] {
    fn names<'a>(all: impl Iterator<Item = &'a Option<String>>) -> Vec<String> {
        all.flatten().cloned().collect()
    }
    [
        (
            ManifestPlugin::MutatingAdmissionPolicy,
            names(all.mutating_policies.iter().map(|policy| &policy.metadata.name)),
        ),
        (
            ManifestPlugin::MutatingAdmissionWebhook,
            names(all.mutating_webhooks.iter().map(|webhook| &webhook.metadata.name)),
        ),
        (
            ManifestPlugin::ValidatingAdmissionPolicy,
            names(all.validating_policies.iter().map(|policy| &policy.metadata.name)),
        ),
        (
            ManifestPlugin::ValidatingAdmissionWebhook,
            names(
                all.validating_webhooks
                    .iter()
                    .map(|webhook| &webhook.metadata.name),
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use pratique::live::{InMemory, Source as _};
    use pratique_types::admissionregistration::{ValidatingWebhook, ValidatingWebhookConfiguration};

    use super::*;

    fn hook(name: &str, client: &str) -> ValidatingWebhook {
        let text = format!(
            r#"{{"name":"{name}","clientConfig":{client},"sideEffects":"None","admissionReviewVersions":["v1"]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn configurations() -> Configurations {
        let hooks = [
            (
                "service",
                r#"{"service":{"namespace":"a","name":"b","path":"/validate"}}"#,
            ),
            ("other", r#"{"service":{"namespace":"a","name":"c"}}"#),
            ("url", r#"{"url":"https://here:8443/validate"}"#),
            ("longer", r#"{"url":"https://here:84431/validate"}"#),
        ];
        let mut one = ValidatingWebhookConfiguration {
            webhooks: Some(hooks.map(|(name, client)| hook(name, client)).into()),
            ..ValidatingWebhookConfiguration::default()
        };
        one.metadata.name = Some("all".to_owned());
        Configurations {
            validating_webhooks: vec![Arc::new(one)],
            ..Configurations::default()
        }
    }

    #[test]
    fn webhooks_of_the_server_itself_are_removed() {
        let check = |endpoint: Endpoint, expected: &[&str]| {
            let followed = FollowedSource::new(InMemory::new(configurations()), "cluster", endpoint);
            let kept = followed.current().unwrap();
            let hooks = kept.validating_webhooks[0].webhooks.iter().flatten();
            let names: Vec<_> = hooks.map(|hook| hook.name.as_str()).collect();
            assert_eq!(names, expected);
            assert!(
                Arc::ptr_eq(&kept, &followed.current().unwrap()),
                "it stays the same"
            );
        };
        let service = |name: &str| Endpoint::Service {
            namespace: "a".into(),
            name: name.into(),
            port: 443,
        };
        check(service("b"), &["other", "url", "longer"]);
        check(service("d"), &["service", "other", "url", "longer"]);
        check(
            Endpoint::Url("https://here:8443/".into()),
            &["service", "other", "longer"],
        );
    }

    #[test]
    fn followed_sources_are_reported() {
        let endpoint = Endpoint::Url("https://nowhere".into());
        let followed = FollowedSource::new(InMemory::new(configurations()), "cluster x", endpoint);
        let sources = followed.sources();
        let found: Vec<_> = sources
            .iter()
            .map(|source| (&*source.plugin, &*source.location, &source.names[..]))
            .collect();
        let names = ["all".to_owned()];
        assert_eq!(found, [("ValidatingAdmissionWebhook", "cluster x", &names[..])]);
    }
}
