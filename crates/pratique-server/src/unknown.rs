//! What would have to be known of a cluster for a verdict to be right.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use pratique_manifest::ManifestSet;
use pratique_types::admissionregistration::MatchResources;

/// The label that every namespace has, and that is known without knowing the namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// What is not known, but would have to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// Namespaces are selected by their labels.
    #[error("{name} selects namespaces by their labels, and the namespaces of the cluster are not known")]
    Labels {
        /// The policy, binding or webhook that does.
        name: String,
    },
    /// There are params.
    #[error("{name} takes params from the cluster, and its objects are not known")]
    Params {
        /// The policy that does.
        name: String,
    },
}

/// The first of it in a set.
pub(crate) fn unknown(set: &ManifestSet) -> Option<Unknown> {
    let labels = |name: &Option<String>| Unknown::Labels {
        name: name.clone().unwrap_or_default(),
    };
    let params = |name: &Option<String>| Unknown::Params {
        name: name.clone().unwrap_or_default(),
    };
    for policy in set.validating_policies.iter().map(|own| &own.object) {
        let Some(spec) = &policy.spec else { continue };
        if spec.param_kind.is_some() {
            return Some(params(&policy.metadata.name));
        }
        if selective(spec.match_constraints.as_ref()) {
            return Some(labels(&policy.metadata.name));
        }
    }
    for policy in set.mutating_policies.iter().map(|own| &own.object) {
        let Some(spec) = &policy.spec else { continue };
        if spec.param_kind.is_some() {
            return Some(params(&policy.metadata.name));
        }
        if selective(spec.match_constraints.as_ref()) {
            return Some(labels(&policy.metadata.name));
        }
    }
    let validating = set.validating_bindings.iter().map(|own| &own.object);
    let validating = validating.map(|own| (&own.metadata.name, own.spec.match_resources.as_ref()));
    let mutating = set.mutating_bindings.iter().map(|own| &own.object);
    let mutating = mutating.map(|own| {
        (
            &own.metadata.name,
            own.spec.as_ref().and_then(|spec| spec.match_resources.as_ref()),
        )
    });
    let mut bindings = validating.chain(mutating);
    if let Some((name, _)) = bindings.find(|(_, resources)| selective(*resources)) {
        return Some(labels(name));
    }
    webhooks(set)
}

fn webhooks(set: &ManifestSet) -> Option<Unknown> {
    let validating = set
        .validating_webhooks
        .iter()
        .flat_map(|own| own.object.webhooks.iter().flatten());
    let mutating = set
        .mutating_webhooks
        .iter()
        .flat_map(|own| own.object.webhooks.iter().flatten());
    let selectors = validating.map(|own| (&own.name, own.namespace_selector.as_ref()));
    let mut selectors = selectors.chain(mutating.map(|own| (&own.name, own.namespace_selector.as_ref())));
    let found = selectors.find(|(_, selector)| selector.is_some_and(by_labels));
    found.map(|(name, _)| Unknown::Labels { name: name.clone() })
}

fn selective(resources: Option<&MatchResources>) -> bool {
    resources
        .and_then(|own| own.namespace_selector.as_ref())
        .is_some_and(by_labels)
}

fn by_labels(selector: &LabelSelector) -> bool {
    let labels = selector.match_labels.iter().flatten().map(|(key, _)| key);
    let expressions = selector.match_expressions.iter().flatten().map(|own| &own.key);
    labels.chain(expressions).any(|key| key != NAME_LABEL)
}
