//! Loaded manifests, by plugin, and why they do not load.

use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use pratique_manifest::{
    IgnoredPlugin, Kind, LoadErrors, Location, ManifestSet, ObjectName, ObjectSource, StartedPlugin,
};
use pratique_review::sorted_objects::ObjectGroup;
use pratique_types::KubeConfig;
use serde::Serialize;

/// Why a server would not start, and its exit code.
pub(crate) struct StartRefusal {
    pub(crate) errors: LoadErrors,
    /// Whether a server that is given this as static manifests stops with it, rather than its API refusing it.
    pub(crate) stops_server: bool,
    pub(crate) exit_code: u8,
}

/// The manifests of all plugins that a path configures.
pub(super) struct LoadedPlugins {
    pub(super) plugins: Vec<LoadedPlugin>,
    /// Other plugins whose configuration was read.
    pub(super) started: Vec<StartedPlugin>,
    /// The ignored entries of an AdmissionConfiguration.
    pub(super) ignored: Vec<IgnoredPlugin>,
    /// The location of text after its document.
    pub(super) unread: Option<Location>,
    /// Definitions of custom resources beside them.
    pub(super) definitions: Vec<ObjectSource>,
    /// Objects of the API among static manifests.
    pub(super) mixed: Vec<(ObjectName, Location)>,
}

/// The loaded manifests of one plugin.
pub(super) struct LoadedPlugin {
    pub(super) group: ObjectGroup,
    /// The directory in the AdmissionConfiguration.
    pub(super) directory: Option<String>,
    /// The credentials for its webhooks.
    pub(super) kube_config: Option<KubeConfig>,
    pub(super) manifests: ManifestSet,
    /// The objects: policies before their bindings.
    pub(super) objects: Vec<LoadedObject>,
}

/// A loaded object.
#[derive(Serialize)]
pub(super) struct LoadedObject {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) location: Location,
}

impl LoadedPlugins {
    pub(super) fn new(plugins: Vec<LoadedPlugin>) -> Self {
        LoadedPlugins {
            plugins,
            started: Vec::new(),
            ignored: Vec::new(),
            unread: None,
            definitions: Vec::new(),
            mixed: Vec::new(),
        }
    }

    /// Manifests that are not in a directory of an AdmissionConfiguration.
    pub(super) fn of_group(group: ObjectGroup, manifests: ManifestSet) -> Self {
        LoadedPlugins::new(vec![LoadedPlugin::new(group, None, manifests)])
    }
}

impl LoadedPlugin {
    pub(super) fn new(group: ObjectGroup, directory: Option<String>, manifests: ManifestSet) -> Self {
        LoadedPlugin {
            group,
            directory,
            kube_config: None,
            objects: objects(&manifests),
            manifests,
        }
    }
}

/// The objects of a set, policies before their bindings.
fn objects(set: &ManifestSet) -> Vec<LoadedObject> {
    fn list_objects<T: Metadata<Ty = ObjectMeta>>(
        kind: Kind,
        loaded: &[pratique_manifest::SourcedObject<T>],
    ) -> Vec<LoadedObject> {
        let object = |loaded: &pratique_manifest::SourcedObject<T>| LoadedObject {
            kind,
            name: loaded.object.metadata().name.clone().unwrap_or_default(),
            location: loaded.source.locate(&[]),
        };
        loaded.iter().map(object).collect()
    }
    [
        list_objects(Kind::ValidatingAdmissionPolicy, &set.validating_policies),
        list_objects(Kind::ValidatingAdmissionPolicyBinding, &set.validating_bindings),
        list_objects(Kind::MutatingAdmissionPolicy, &set.mutating_policies),
        list_objects(Kind::MutatingAdmissionPolicyBinding, &set.mutating_bindings),
        list_objects(Kind::ValidatingWebhookConfiguration, &set.validating_webhooks),
        list_objects(Kind::MutatingWebhookConfiguration, &set.mutating_webhooks),
    ]
    .into_iter()
    .flatten()
    .collect()
}
