//! Policies of a cluster, as files that are loaded as if they had been written by hand.

use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_suite::snapshot::Extent;
use pratique_suite::yaml;

use super::dropped;
use super::fetch::Fetch;
use super::kinds::{POLICIES, WEBHOOKS};
use super::warn;
use crate::exit::CliError;
use crate::output::text::text;

/// Reads the policies of a cluster; with `webhooks`, its webhook configurations as well.
///
/// # Errors
/// Some are not known: what is decided without them may not be what the cluster decides.
pub(super) fn read(fetch: &mut Fetch, webhooks: bool) -> Result<Vec<ManifestFile>, CliError> {
    fetch.policies();
    fetch.webhooks();
    let mut files = Vec::new();
    let mut count = 0;
    for (kind, resource) in POLICIES.iter().chain(&WEBHOOKS) {
        let is_webhook = WEBHOOKS.iter().any(|(webhook, _)| webhook == kind);
        let entry = fetch.index_mut().kinds.iter().find(|entry| entry.kind == *kind);
        let unknown = entry.filter(|entry| entry.extent == Extent::Unknown);
        let unknown = unknown.map(|entry| entry.reason.clone());
        match unknown {
            Some(why) if is_webhook && !webhooks => {
                warn(&text!("{}: {} are not known: {}", fetch.url(), resource, why));
            }
            Some(why) => {
                return Err(CliError::PoliciesOfCluster {
                    url: fetch.url().to_owned(),
                    resource: (*resource).to_owned(),
                    why,
                });
            }
            None if is_webhook && !webhooks => count += fetch.of_kind(kind).count(),
            None => files.extend(fetch.of_kind(kind).map(|object| file(resource, object))),
        }
    }
    if count > 0 {
        let configurations = if count == 1 {
            "configuration"
        } else {
            "configurations"
        };
        warn(&text!(
            "{}: {} webhook {} of the cluster are not evaluated; --webhooks calls them",
            fetch.url(),
            count,
            configurations
        ));
    }
    Ok(files)
}

/// An object as a file, which is named as `kubectl` names it.
fn file(resource: &str, object: &Value<'static>) -> ManifestFile {
    let name = object.at(&["metadata", "name"]).and_then(Value::as_str);
    let object = dropped::stored(object.clone(), false);
    ManifestFile {
        path: format!("{resource}/{}", name.unwrap_or_default()),
        content: yaml::block(&object, 0).into_bytes(),
    }
}
