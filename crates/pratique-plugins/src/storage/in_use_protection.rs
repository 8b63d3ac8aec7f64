//! StorageObjectInUseProtection and PodGroupProtection: objects that are in use are not deleted.

use pratique_json::Value;
use pratique_plugin::MutableAttributes;

use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{elements, elements_mut, is_kind};

/// A plugin that gives new objects a finalizer.
// Upstream: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go
// Upstream: plugin/pkg/admission/scheduling/podgroupprotection/admission.go
pub(crate) struct FinalizerProtection {
    pub(crate) of: &'static [ProtectedObjects],
}

/// Objects that are protected by a finalizer.
pub(crate) struct ProtectedObjects {
    group: &'static str,
    resource: &'static str,
    kind: &'static str,
    finalizer: &'static str,
}

pub(crate) const STORAGE: [ProtectedObjects; 3] = [
    ProtectedObjects {
        group: "",
        resource: "persistentvolumes",
        kind: "PersistentVolume",
        finalizer: "kubernetes.io/pv-protection",
    },
    ProtectedObjects {
        group: "",
        resource: "persistentvolumeclaims",
        kind: "PersistentVolumeClaim",
        finalizer: "kubernetes.io/pvc-protection",
    },
    ProtectedObjects {
        group: "storage.k8s.io",
        resource: "volumeattributesclasses",
        kind: "VolumeAttributesClass",
        finalizer: "kubernetes.io/vac-protection",
    },
];

pub(crate) const POD_GROUPS: [ProtectedObjects; 1] = [ProtectedObjects {
    group: "scheduling.k8s.io",
    resource: "podgroups",
    kind: "PodGroup",
    finalizer: "scheduling.k8s.io/podgroup-protection",
}];

impl BuiltInPlugin for FinalizerProtection {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let resource = &request.resource;
        let protected = self
            .of
            .iter()
            .find(|protected| protected.resource == resource.resource && protected.group == resource.group);
        if let Some(protected) = protected
            && request.sub_resource.is_empty()
            && is_kind(attributes.object(), protected.group, protected.kind)
            && !elements(attributes.object(), &["metadata", "finalizers"])
                .iter()
                .any(|finalizer| finalizer.as_str() == Some(protected.finalizer))
            && let Some(finalizers) = elements_mut(attributes.object_mut(), &["metadata"], "finalizers")
        {
            finalizers.push(Value::from(protected.finalizer));
        }
        Ok(())
    }
}
