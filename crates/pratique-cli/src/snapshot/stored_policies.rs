//! The policies of a snapshot.

use pratique_manifest::ManifestFile;
use pratique_state::snapshot::Extent;

use super::kinds::{POLICIES, WEBHOOKS};
use super::{ClusterSnapshot, WebhookUse, warn};
use crate::exit::CliError;
use crate::snapshot::snapshot_error::SnapshotError;

impl ClusterSnapshot {
    /// The files with the policies that the cluster had, and its webhook configurations unless they are skipped.
    ///
    /// # Errors
    /// The snapshot does not have them all.
    pub(super) fn policy_files(&self, webhooks: WebhookUse) -> Result<Vec<ManifestFile>, CliError> {
        if let Some((place, kind)) = &self.misplaced {
            return Err(CliError::Snapshot(SnapshotError::MisplacedPolicy {
                place: place.clone(),
                kind: kind.clone(),
            }));
        }
        let takes_webhooks = webhooks == WebhookUse::Taken;
        let called: &[(&str, &str)] = if takes_webhooks { &WEBHOOKS } else { &[] };
        let complete = self.complete_kinds();
        let is_complete = |kind: &&&str| complete.iter().any(|complete| complete.kind == ***kind);
        let all = || POLICIES.iter().chain(called).map(|(kind, _)| kind);
        if let Some(unknown) = all().find(|kind| !is_complete(kind)) {
            let entries = self.index.kinds.iter();
            let mut of_kind = entries.filter(|entry| entry.kind == **unknown);
            return Err(CliError::Snapshot(SnapshotError::PoliciesOfSnapshot {
                kind: (*unknown).to_owned(),
                why: match of_kind.next() {
                    Some(entry) if entry.extent == Extent::Unknown => entry.reason.clone(),
                    Some(_) => "objects were removed from it".to_owned(),
                    None => "they were named when it was taken".to_owned(),
                },
            }));
        }
        let of_webhooks = self
            .index
            .kinds
            .iter()
            .filter(|entry| WEBHOOKS.iter().any(|(kind, _)| *kind == entry.kind));
        let count: usize = of_webhooks.map(|entry| entry.objects).sum();
        webhooks.skipped_message(count, "snapshot").iter().for_each(warn);
        let files = self.policies.iter();
        let is_taken = |file: &&ManifestFile| takes_webhooks || !file.path.contains("webhookconfigurations.");
        Ok(files.filter(is_taken).cloned().collect())
    }
}
