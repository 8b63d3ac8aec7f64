//! The state of a cluster at one moment: read from it, or from a directory that `pratique snapshot` wrote.

#[cfg(feature = "kube")]
mod access;
#[cfg(feature = "kube")]
mod command;
#[cfg(feature = "kube")]
mod connect;
mod directory;
#[cfg(feature = "kube")]
mod dropped_fields;
#[cfg(feature = "kube")]
mod fetch;
mod kinds;
#[cfg(feature = "kube")]
mod policies;
#[cfg(feature = "kube")]
mod required_state;
pub(crate) mod snapshot_error;
mod source;
mod stored_policies;
#[cfg(feature = "kube")]
mod write;

use pratique::plugins::StateKind;
use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_plugins::state_kinds;
use pratique_rbac::Completeness;
use pratique_state::snapshot::{Extent, SnapshotIndex, SnapshotKind, count_kinds};
use pratique_types::admission_plugins::built_in;
use pratique_types::{GroupKind, GroupVersionKind};

use crate::output;
use crate::output::counted_nouns::{counted, noun};
use crate::output::text::{PrintableText, text};

#[cfg(feature = "kube")]
pub(crate) use access::ClusterAccess;
#[cfg(feature = "kube")]
pub(crate) use command::run;
#[cfg(feature = "kube")]
pub(crate) use connect::{connect, of_kubeconfig};
pub(crate) use directory::found;
#[cfg(feature = "kube")]
use required_state::RequiredState;
pub(crate) use source::{LoadedState, StateSource};

/// Whether the webhook configurations of a cluster or snapshot are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WebhookUse {
    /// They are taken with the policies.
    Taken,
    /// They are skipped and counted; `help` says how they are taken.
    Skipped { help: &'static str },
}

impl WebhookUse {
    /// They are called, or can be with `--webhooks`.
    pub(crate) fn called(is_called: bool) -> Self {
        if is_called {
            WebhookUse::Taken
        } else {
            WebhookUse::Skipped {
                help: "--webhooks calls them",
            }
        }
    }

    /// The message that as many are skipped, if there are any.
    fn skipped_message(self, count: usize, of: &str) -> Option<PrintableText> {
        let WebhookUse::Skipped { help } = self else {
            return None;
        };
        (count > 0).then(|| {
            text!(
                "{} of the {} {} not evaluated; {}",
                counted(count, "webhook configuration", "webhook configurations"),
                of,
                noun(count, "is", "are"),
                help
            )
        })
    }
}

/// The state of a cluster at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterSnapshot {
    pub(crate) index: SnapshotIndex,
    pub(crate) objects: Vec<Value<'static>>,
    /// The files that have policies, bindings and webhook configurations.
    pub(crate) policies: Vec<ManifestFile>,
    /// The place and the kind of the first object of these in another file.
    pub(crate) misplaced: Option<(String, String)>,
}

impl ClusterSnapshot {
    /// The kinds of which all objects are known.
    pub(crate) fn complete_kinds(&self) -> Vec<GroupVersionKind> {
        self.index.complete(&count_kinds(&self.objects))
    }

    /// Whether the objects that admission plugins look up were requested when it was taken.
    pub(crate) fn has_plugin_objects(&self) -> bool {
        // Namespaces and definitions are requested in any case.
        let always = [StateKind::NAMESPACE, StateKind::CUSTOM_RESOURCE_DEFINITION];
        let needed = state_kinds(|name| built_in(name).is_some_and(|plugin| plugin.by_default));
        let requested: Vec<GroupKind> = self.index.kinds.iter().filter_map(group_kind).collect();
        needed.iter().filter(|kind| !always.contains(kind)).any(|kind| {
            let mut requested = requested.iter();
            requested.any(|requested| requested.group == kind.group && requested.kind == kind.kind)
        })
    }

    /// How much its roles and bindings say of permissions.
    pub(crate) fn permissions(&self) -> Completeness {
        self.index.permissions(&self.complete_kinds())
    }

    /// Warns of kinds whose objects are not known, with the reasons.
    pub(crate) fn warn(&self, source_name: &str) {
        self.unknown_kinds(source_name).iter().for_each(warn);
    }

    /// A message for each kind whose objects are not known, with the reason.
    pub(crate) fn unknown_kinds(&self, source_name: &str) -> Vec<PrintableText> {
        let kinds = self.index.kinds.iter();
        let unknown = kinds.filter(|kind| kind.extent == Extent::Unknown);
        unknown
            .map(|kind| {
                let named = format!("{} {}", kind.api_version, kind.kind);
                text!(
                    "{}: objects of {} are not known: {}",
                    source_name,
                    named,
                    kind.reason
                )
            })
            .collect()
    }
}

fn group_kind(kind: &SnapshotKind) -> Option<GroupKind> {
    Some(kind.version_kind().ok()?.group_kind())
}

/// Prints a warning on standard error.
fn warn(message: &PrintableText) {
    output::eprint(&output::warning(message));
}
