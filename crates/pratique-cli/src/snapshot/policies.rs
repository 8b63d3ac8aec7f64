//! Policies of a cluster, as files that are loaded as if they had been written by hand.

use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_schema::Release;
use pratique_state::snapshot::Extent;
use pratique_state::yaml;

use super::dropped_fields;
use super::fetch::SnapshotFetch;
use super::kinds::{POLICIES, WEBHOOKS};
use super::{WebhookUse, warn};
use crate::exit::CliError;
use crate::output::text::text;
use crate::snapshot::snapshot_error::SnapshotError;

/// Reads the policies of a cluster, and its webhook configurations unless they are skipped.
///
/// # Errors
/// Some are not known: what is decided without them may not be what the cluster decides.
pub(super) fn read(fetch: &mut SnapshotFetch, webhooks: WebhookUse) -> Result<Vec<ManifestFile>, CliError> {
    let takes_webhooks = webhooks == WebhookUse::Taken;
    fetch.policies();
    fetch.webhooks();
    let release = fetch.release();
    let mut files = Vec::new();
    let mut count = 0;
    for (kind, resource) in POLICIES.iter().chain(&WEBHOOKS) {
        let is_webhook = WEBHOOKS.iter().any(|(webhook, _)| webhook == kind);
        let entry = fetch.index_mut().kinds.iter().find(|entry| entry.kind == *kind);
        let unknown = entry.filter(|entry| entry.extent == Extent::Unknown);
        let unknown = unknown.map(|entry| entry.reason.clone());
        match unknown {
            Some(why) if is_webhook && !takes_webhooks => {
                warn(&text!("{}: {} are not known: {}", fetch.url(), resource, why));
            }
            Some(why) => {
                return Err(CliError::Snapshot(SnapshotError::PoliciesOfCluster {
                    url: fetch.url().to_owned(),
                    resource: (*resource).to_owned(),
                    why,
                }));
            }
            None if is_webhook && !takes_webhooks => count += fetch.of_kind(kind).count(),
            None => files.extend(fetch.of_kind(kind).map(|object| file(release, resource, object))),
        }
    }
    if let Some(message) = webhooks.skipped_message(count, "cluster") {
        warn(&text!("{}: {}", fetch.url(), message));
    }
    Ok(files)
}

/// An object as a file, which is named as `kubectl` names it.
fn file(release: &Release, resource: &str, object: &Value<'static>) -> ManifestFile {
    let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
    let object = dropped_fields::stored(release, object.clone(), false);
    ManifestFile {
        path: format!("{resource}/{}", name.unwrap_or_default()),
        content: yaml::block(&object, 0).into_bytes(),
    }
}
