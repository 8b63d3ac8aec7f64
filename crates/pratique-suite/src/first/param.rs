//! The params that a first suite tries policies with.

use pratique_json::{Object, Value};
use pratique_manifest::ManifestSet;
use pratique_sample::{ParamName, Policy, generate_param};
use pratique_schema::Release;
use pratique_types::admissionregistration::{ParamKind, ParamRef};
use pratique_types::{GroupVersion, GroupVersionKind};

/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

/// The params that the bindings of a policy refer to, generated from what its expressions read, and the definition of
/// their kind; none for a policy without params.
pub(super) fn params(
    release: &'static Release,
    set: &ManifestSet,
    name: &str,
    policy: Policy<'_>,
    seed: u64,
) -> Vec<Value<'static>> {
    let Some(kind) = kind(policy) else {
        return Vec::new();
    };
    let reads = policy.reads().params;
    let mut params = Vec::new();
    let mut is_namespaced = release
        .resources()
        .resource_of(&kind)
        .map(|served| served.namespaced);
    for reference in references(set, name) {
        let namespace = reference.namespace.as_deref();
        let namespaced = *is_namespaced.get_or_insert(namespace.is_some());
        let of = ParamName {
            kind: &kind,
            name: reference.name.as_deref().unwrap_or("param"),
            namespace: if namespaced {
                namespace.unwrap_or(NAMESPACE)
            } else {
                ""
            },
        };
        let mut param = generate_param(of, &reads, seed);
        if let Some(Value::Object(metadata)) = param.get_mut("metadata")
            && let Some(selector) = &reference.selector
        {
            let labels = selector.match_labels.iter().flatten();
            let labels: Object<'_> = labels
                .map(|(key, value)| (key.clone().into(), Value::from(value.clone())))
                .collect();
            metadata.insert("labels", labels);
        }
        params.push(param);
    }
    if release.resources().resource_of(&kind).is_none() && !params.is_empty() {
        params.insert(0, definition(&kind, is_namespaced.unwrap_or_default()));
    }
    params
}

fn kind(policy: Policy<'_>) -> Option<GroupVersionKind> {
    let of = |kind: &ParamKind| {
        let version = GroupVersion::parse(kind.api_version.as_deref()?).ok()?;
        Some(version.with_kind(kind.kind.as_deref()?))
    };
    match policy {
        Policy::Validating(policy) => of(policy.spec.as_ref()?.param_kind.as_ref()?),
        Policy::Mutating(policy) => of(policy.spec.as_ref()?.param_kind.as_ref()?),
    }
}

/// The param references of the bindings of a policy.
fn references<'s>(set: &'s ManifestSet, name: &'s str) -> impl Iterator<Item = &'s ParamRef> {
    let validating = set.validating_bindings.iter().map(|loaded| &loaded.object.spec);
    let validating = validating.filter(move |spec| spec.policy_name == name);
    let mutating = set
        .mutating_bindings
        .iter()
        .filter_map(|loaded| loaded.object.spec.as_ref());
    let mutating = mutating.filter(move |spec| spec.policy_name.as_deref() == Some(name));
    let validating = validating.filter_map(|spec| spec.param_ref.as_ref());
    validating.chain(mutating.filter_map(|spec| spec.param_ref.as_ref()))
}

/// The definition of a custom kind, without a schema.
fn definition(kind: &GroupVersionKind, is_namespaced: bool) -> Value<'static> {
    let plural = format!("{}s", kind.kind.to_lowercase());
    let scope = if is_namespaced { "Namespaced" } else { "Cluster" };
    let text = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
            "metadata":{{"name":"{plural}.{group}"}},"spec":{{"group":"{group}","scope":"{scope}",
            "names":{{"kind":"{kind}","plural":"{plural}"}},"versions":[{{"name":"{version}","served":true,"storage":true,
            "schema":{{"openAPIV3Schema":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}]}}}}"#,
        group = kind.group,
        kind = kind.kind,
        version = kind.version,
    );
    let parsed = pratique_json::parse(text.as_bytes()).map(Value::into_owned);
    parsed.unwrap_or_default()
}
