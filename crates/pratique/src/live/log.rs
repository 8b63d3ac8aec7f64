//! The log messages of an API server about loaded configuration.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_exclusion::{NOTICE, Notice};

use crate::configurations::Configurations;

/// Logs a directory that was loaded at the start.
#[cfg(feature = "watch")]
pub(super) fn started(plugin: pratique_manifest::ManifestPlugin, set: &pratique_manifest::ManifestSet) {
    let name = plugin.name();
    let count = count(set);
    if plugin.is_policy() {
        tracing::info!(
            plugin = name,
            count,
            "Loaded manifest-based admission policy configurations"
        )
    } else {
        tracing::info!(
            plugin = name,
            configurations = count,
            "Loaded manifest-based webhook configurations"
        )
    }
}

/// The number of policies and webhook configurations in a set.
#[cfg(feature = "watch")]
pub(super) fn count(set: &pratique_manifest::ManifestSet) -> usize {
    set.objects().filter(|object| !object.kind.is_binding()).count()
}

/// Warns of a directory that had policies or webhook configurations and has none any more, which an API server does not.
#[cfg(feature = "watch")]
pub(super) fn emptied(plugin: pratique_manifest::ManifestPlugin, dir: &str, removed: usize) {
    let configurations = if plugin.is_policy() {
        "policies"
    } else {
        "webhook configurations"
    };
    tracing::warn!(
        plugin = plugin.name(),
        dir,
        removed,
        "The directory has no {configurations} any more: nothing is checked by it"
    );
}

/// Logs new webhook configurations that name resources excluded from webhooks.
pub(super) fn changed(previous: &Configurations, current: &Configurations) {
    each_new(&previous.mutating_webhooks, &current.mutating_webhooks, |new| {
        let webhooks = new.webhooks.iter().flatten();
        let rules = webhooks.filter_map(|webhook| webhook.rules.as_ref()).flatten();
        Notice::for_rules(
            "MutatingWebhookConfiguration",
            new.metadata.name.as_deref().unwrap_or_default(),
            rules,
        )
    });
    each_new(
        &previous.validating_webhooks,
        &current.validating_webhooks,
        |new| {
            let webhooks = new.webhooks.iter().flatten();
            let rules = webhooks.filter_map(|webhook| webhook.rules.as_ref()).flatten();
            Notice::for_rules(
                "ValidatingWebhookConfiguration",
                new.metadata.name.as_deref().unwrap_or_default(),
                rules,
            )
        },
    );
}

/// Logs the notice on each object that is not the same as one before.
fn each_new<T>(old_objects: &[Arc<T>], current_objects: &[Arc<T>], notice: impl Fn(&T) -> Option<Notice>) {
    let previous: HashSet<_> = old_objects.iter().map(Arc::as_ptr).collect();
    let new = current_objects
        .iter()
        .filter(|object| !previous.contains(&Arc::as_ptr(object)));
    new.filter_map(|object| notice(object)).for_each(log);
}

fn log(notice: Notice) {
    let excluded = notice.excluded_resources.as_slice();
    tracing::info!(kind = notice.kind, name = %notice.name, excludedResources = ?excluded, "{NOTICE}");
}
