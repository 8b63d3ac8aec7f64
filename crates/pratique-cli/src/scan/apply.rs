//! Applies the reports of a scan to a cluster, and removes those that are stale.

use std::collections::BTreeSet;

use pratique_kube::{ApiServer, ClusterWriter, ObjectName, WriteError, WrittenKind};
use pratique_report::{NamespaceReports, ReportApi};
use pratique_types::{GroupVersionKind, GroupVersionResource};

use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::text::{PrintableText, text};

/// The field manager of what is applied.
const MANAGER: &str = "pratique";

/// The result of applying the reports of a scan.
#[derive(Debug, Default)]
pub(super) struct AppliedScan {
    applied: usize,
    removed: usize,
    failed: usize,
    /// Why stale reports are still there, if they may be.
    kept: Option<&'static str>,
}

impl AppliedScan {
    /// Whether the cluster has exactly these reports.
    pub(super) fn is_complete(&self) -> bool {
        self.failed == 0
    }

    /// The counts as a line.
    pub(super) fn human(&self) -> PrintableText {
        let kept = self.kept.map(|why| format!("; stale ones are kept: {why}"));
        text!(
            "{} applied, {} stale removed, {} failed{}\n",
            counted(self.applied, "report", "reports"),
            self.removed,
            self.failed,
            kept.unwrap_or_default()
        )
    }

    fn fault(&mut self, of: &WrittenKind, at: Option<&ObjectName>, error: &WriteError) {
        self.failed += 1;
        let place = match at {
            Some(ObjectName {
                namespace: Some(namespace),
                name,
            }) => format!("{} {namespace}/{name}", of.kind.kind),
            Some(ObjectName { name, .. }) => format!("{} {name}", of.kind.kind),
            None => of.resource.group_resource().to_string(),
        };
        output::eprint(&output::warning_at(&place, &error.to_string()));
    }
}

/// Applies the reports. `kept` says why stale ones are not removed: not all objects are known.
pub(super) fn apply(
    server: &ApiServer,
    reports: &NamespaceReports,
    api: ReportApi,
    kept: Option<&'static str>,
) -> AppliedScan {
    let writer = server.writer();
    let mut applied = AppliedScan {
        kept,
        ..AppliedScan::default()
    };
    let mut current = BTreeSet::new();
    for (namespace, object) in reports.objects(api) {
        let of = written(api, !namespace.is_empty());
        let at = ObjectName {
            namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
            name: ReportApi::NAME.to_owned(),
        };
        // Nothing in it can fail: it has texts and numbers.
        let object = serde_json::to_value(object).unwrap_or_default();
        match writer.apply(&of, &at, object, MANAGER) {
            Ok(()) => applied.applied += 1,
            Err(error) => applied.fault(&of, Some(&at), &error),
        }
        current.insert(at);
    }
    if kept.is_none() {
        for is_namespaced in [true, false] {
            remove_stale(&writer, &written(api, is_namespaced), &current, &mut applied);
        }
    }
    applied
}

/// Removes our reports that are not current.
fn remove_stale(
    writer: &ClusterWriter,
    of: &WrittenKind,
    current: &BTreeSet<ObjectName>,
    applied: &mut AppliedScan,
) {
    let labelled_reports = match writer.labelled(of, &ReportApi::selector()) {
        Ok(reports) => reports,
        Err(error) => return applied.fault(of, None, &error),
    };
    let stale = |at: &&ObjectName| at.name == ReportApi::NAME && !current.contains(*at);
    for at in labelled_reports.iter().filter(stale) {
        match writer.delete(of, at) {
            Ok(()) => applied.removed += 1,
            Err(error) => applied.fault(of, Some(at), &error),
        }
    }
}

fn written(api: ReportApi, is_namespaced: bool) -> WrittenKind {
    let (group, version) = (api.group(), api.group_version());
    WrittenKind {
        resource: GroupVersionResource::new(group, version, api.resource(is_namespaced)),
        kind: GroupVersionKind::new(group, version, api.kind(is_namespaced)),
    }
}
