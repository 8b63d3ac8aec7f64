//! Warnings about finalizers.

use std::collections::BTreeSet;

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::qualified_name;
use pratique_json::Value;

/// The warnings about finalizers that are new.
// Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go, generateWarningsFromObj
pub(crate) fn finalizers(metadata: &Value<'_>, old: Option<&Value<'_>>) -> Vec<String> {
    let mut added = list_finalizers(metadata);
    for finalizer in old.map(list_finalizers).unwrap_or_default() {
        added.remove(finalizer);
    }
    added.into_iter().flat_map(finalizer).collect()
}

fn list_finalizers<'v>(metadata: &'v Value<'_>) -> BTreeSet<&'v str> {
    let finalizers = metadata.get("finalizers").and_then(Value::as_array);
    finalizers
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

// Upstream: apiextensions-apiserver/pkg/registry/customresource/validator.go, validateKubeFinalizerName
fn finalizer(name: &str) -> Vec<String> {
    let warning = |text: &str| format!("metadata.finalizers: {}: {text}", quote(name));
    let mut warnings: Vec<String> = qualified_name(name).iter().map(|fault| warning(fault)).collect();
    let is_standard = matches!(name, "orphan" | "foregroundDeletion" | "kubernetes");
    if !name.contains('/') && !is_standard {
        warnings.push(if name.contains('.') {
warning(
                "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with \
                 other finalizer writers",
            )
} else {
warning(
                "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers",
            )
});
    }
    warnings
}
