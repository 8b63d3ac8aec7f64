//! What an API server logs of the configuration that it takes up.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_exclusion::{NOTICE, Notice};

use crate::configurations::Configurations;

/// Tells of a directory that was loaded at the start.
#[cfg(feature = "watch")]
pub(super) fn started(plugin: pratique_manifest::Plugin, set: &pratique_manifest::ManifestSet) {
    let name = plugin.name();
    let count = count(set);
    match plugin.is_policy() {
        true => tracing::info!(
            plugin = name,
            count,
            "Loaded manifest-based admission policy configurations"
        ),
        false => tracing::info!(
            plugin = name,
            configurations = count,
            "Loaded manifest-based webhook configurations"
        ),
    }
}

/// How many policies and webhook configurations there are in a set.
#[cfg(feature = "watch")]
pub(super) fn count(set: &pratique_manifest::ManifestSet) -> usize {
    set.objects().filter(|object| !object.kind.is_binding()).count()
}

/// Tells of a directory that had policies or webhook configurations and has none any more. For an API server that is a
/// reload like any other.
#[cfg(feature = "watch")]
pub(super) fn emptied(plugin: pratique_manifest::Plugin, dir: &str, removed: usize) {
    let what = if plugin.is_policy() {
        "policies"
    } else {
        "webhook configurations"
    };
    tracing::warn!(
        plugin = plugin.name(),
        dir,
        removed,
        "The directory has no {what} any more: nothing is checked by it"
    );
}

/// Tells of webhook configurations that are new and name what webhooks never see.
pub(super) fn changed(before: &Configurations, after: &Configurations) {
    let known: HashSet<_> = before.mutating_webhooks.iter().map(Arc::as_ptr).collect();
    for configuration in &after.mutating_webhooks {
        if !known.contains(&Arc::as_ptr(configuration)) {
            let rules = configuration
                .webhooks
                .iter()
                .flatten()
                .filter_map(|webhook| webhook.rules.as_ref());
            let name = configuration.metadata.name.as_deref().unwrap_or_default();
            tell(Notice::of("MutatingWebhookConfiguration", name, rules.flatten()));
        }
    }
    let known: HashSet<_> = before.validating_webhooks.iter().map(Arc::as_ptr).collect();
    for configuration in &after.validating_webhooks {
        if !known.contains(&Arc::as_ptr(configuration)) {
            let rules = configuration
                .webhooks
                .iter()
                .flatten()
                .filter_map(|webhook| webhook.rules.as_ref());
            let name = configuration.metadata.name.as_deref().unwrap_or_default();
            tell(Notice::of(
                "ValidatingWebhookConfiguration",
                name,
                rules.flatten(),
            ));
        }
    }
}

fn tell(notice: Option<Notice>) {
    if let Some(notice) = notice {
        let excluded = notice.excluded_resources.as_slice();
        tracing::info!(kind = notice.kind, name = %notice.name, excludedResources = ?excluded, "{NOTICE}");
    }
}
