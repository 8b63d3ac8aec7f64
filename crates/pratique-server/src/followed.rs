//! Configuration of admission of an API that is followed, and what the page for people tells of it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use pratique::Configurations;
use pratique::live::Changed;
use pratique_manifest::Plugin;
use pratique_types::admissionregistration::WebhookClientConfig;

use crate::configz::{Attempt, Source};
use crate::registration::Reached;

/// What a cluster has of configuration of admission, without the webhooks that this server is itself: it would ask
/// itself without end. A copy is the same.
#[derive(Clone)]
pub struct Followed(Arc<Inner>);

struct Inner {
    source: Box<dyn pratique::live::Source>,
    /// Where it is.
    location: String,
    own: Reached,
    last: Mutex<Option<Last>>,
}

/// What was given last, and what was made of it.
#[derive(Clone)]
struct Last {
    given: Arc<Configurations>,
    kept: Arc<Configurations>,
    at: SystemTime,
}

impl Followed {
    /// Follows a source, whose place is told as `location`. This server is `reached` by API servers as said.
    pub fn new(source: impl pratique::live::Source + 'static, location: &str, reached: Reached) -> Self {
        Followed(Arc::new(Inner {
            source: Box::new(source),
            location: location.to_owned(),
            own: reached,
            last: Mutex::default(),
        }))
    }

    /// What is judged by, for each plugin that has some of it.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let Some(last) = self.last() else {
            return Vec::new();
        };
        let all = names(&last.kept).into_iter();
        let all = all.filter(|(_, names)| !names.is_empty());
        all.map(|(plugin, names)| Source {
            plugin: plugin.name().into(),
            location: self.0.location.clone(),
            hash: String::new(),
            names,
            loaded: last.at,
            last_reload: Attempt {
                at: last.at,
                error: None,
            },
        })
        .collect()
    }

    fn last(&self) -> Option<Last> {
        let given = self.0.source.current()?;
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| Arc::ptr_eq(&last.given, &given)) {
            return Some(last.clone());
        }
        let next = Last {
            kept: without(&given, &self.0.own),
            given,
            at: SystemTime::now(),
        };
        *last = Some(next.clone());
        Some(next)
    }
}

impl pratique::live::Source for Followed {
    fn current(&self) -> Option<Arc<Configurations>> {
        self.last().map(|last| last.kept)
    }

    fn subscribe(&self, changed: Changed) {
        self.0.source.subscribe(changed);
    }

    fn has_ended(&self) -> bool {
        self.0.source.has_ended()
    }

    fn stop(&self) {
        self.0.source.stop();
    }
}

impl fmt::Debug for Followed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Followed")
            .field("location", &self.0.location)
            .finish_non_exhaustive()
    }
}

/// The configuration without those webhooks that ask this server; one that has none keeps its object, and one that asks
/// nobody else is left out.
fn without(given: &Arc<Configurations>, own: &Reached) -> Arc<Configurations> {
    let mut kept = Configurations::clone(given);
    let mutating = leave_out(
        &mut kept.mutating_webhooks,
        |one| &one.webhooks,
        |one| &mut one.webhooks,
        |hook| own.is_client(&hook.client_config),
    );
    let validating = leave_out(
        &mut kept.validating_webhooks,
        |one| &one.webhooks,
        |one| &mut one.webhooks,
        |hook| own.is_client(&hook.client_config),
    );
    match mutating || validating {
        true => Arc::new(kept),
        false => given.clone(),
    }
}

/// Leaves webhooks out of configurations of either kind, and the configurations that have no others; whether there were
/// any.
fn leave_out<C: Clone, W>(
    all: &mut Vec<Arc<C>>,
    webhooks: impl Fn(&C) -> &Option<Vec<W>>,
    webhooks_mut: impl Fn(&mut C) -> &mut Option<Vec<W>>,
    is_own: impl Fn(&W) -> bool,
) -> bool {
    let mut found = false;
    all.retain_mut(|one| {
        if !webhooks(one).iter().flatten().any(&is_own) {
            return true;
        }
        found = true;
        let kept = webhooks_mut(Arc::make_mut(one)).get_or_insert_default();
        kept.retain(|webhook| !is_own(webhook));
        !kept.is_empty()
    });
    found
}

impl Reached {
    /// Whether a webhook asks this server.
    fn is_client(&self, client: &WebhookClientConfig) -> bool {
        match self {
            Reached::Service { namespace, name, .. } => client
                .service
                .as_ref()
                .is_some_and(|own| own.namespace == *namespace && own.name == *name),
            Reached::Url(url) => {
                let url = url.trim_end_matches('/');
                let rest = client.url.as_ref().and_then(|own| own.strip_prefix(url));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
            }
        }
    }
}

/// The names of policies and of configurations of webhooks.
fn names(all: &Configurations) -> [(Plugin, Vec<String>); 4] {
    fn names<'a>(all: impl Iterator<Item = &'a Option<String>>) -> Vec<String> {
        all.flatten().cloned().collect()
    }
    [
        (
            Plugin::MutatingAdmissionPolicy,
            names(all.mutating_policies.iter().map(|own| &own.metadata.name)),
        ),
        (
            Plugin::MutatingAdmissionWebhook,
            names(all.mutating_webhooks.iter().map(|own| &own.metadata.name)),
        ),
        (
            Plugin::ValidatingAdmissionPolicy,
            names(all.validating_policies.iter().map(|own| &own.metadata.name)),
        ),
        (
            Plugin::ValidatingAdmissionWebhook,
            names(all.validating_webhooks.iter().map(|own| &own.metadata.name)),
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
    fn it_does_not_ask_itself() {
        let check = |reached: Reached, expected: &[&str]| {
            let followed = Followed::new(InMemory::new(configurations()), "cluster", reached);
            let kept = followed.current().unwrap();
            let hooks = kept.validating_webhooks[0].webhooks.iter().flatten();
            let names: Vec<_> = hooks.map(|hook| hook.name.as_str()).collect();
            assert_eq!(names, expected);
            assert!(
                Arc::ptr_eq(&kept, &followed.current().unwrap()),
                "it stays the same"
            );
        };
        let service = |name: &str| Reached::Service {
            namespace: "a".into(),
            name: name.into(),
            port: 443,
        };
        check(service("b"), &["other", "url", "longer"]);
        check(service("d"), &["service", "other", "url", "longer"]);
        check(
            Reached::Url("https://here:8443/".into()),
            &["service", "other", "longer"],
        );
    }

    #[test]
    fn what_is_followed_is_told() {
        let reached = Reached::Url("https://nowhere".into());
        let followed = Followed::new(InMemory::new(configurations()), "cluster x", reached);
        let sources = followed.sources();
        let told: Vec<_> = sources
            .iter()
            .map(|own| (&*own.plugin, &*own.location, &own.names[..]))
            .collect();
        let names = ["all".to_owned()];
        assert_eq!(told, [("ValidatingAdmissionWebhook", "cluster x", &names[..])]);
    }
}
