//! StorageObjectInUseProtection and PodGroupProtection: objects that are in use are not deleted.

use pratique_json::Value;
use pratique_plugin::{Gate, Handler, MutableAttributes, PluginContext, PluginFactory};
use pratique_types::Operation;

use crate::object::{elements, elements_mut, is_kind};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const STORAGE_OBJECT_IN_USE_PROTECTION: PluginFactory = PluginFactory {
    handler: Handler::new("StorageObjectInUseProtection", &[Operation::Create]).mutating(),
    make: |_| {
        plain(
            STORAGE_OBJECT_IN_USE_PROTECTION.handler,
            Protection { of: &STORAGE },
        )
    },
};

pub(crate) const POD_GROUP_PROTECTION: PluginFactory = PluginFactory {
    handler: Handler::new("PodGroupProtection", &[Operation::Create]).mutating(),
    make: |settings| {
        let enabled = settings.feature_gates.enabled(Gate::GENERIC_WORKLOAD);
        let of: &[Protected] = if enabled { &POD_GROUPS } else { &[] };
        plain(POD_GROUP_PROTECTION.handler, Protection { of })
    },
};

/// A plugin that gives new objects a finalizer.
// Upstream: plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go
// Upstream: plugin/pkg/admission/scheduling/podgroupprotection/admission.go
struct Protection {
    of: &'static [Protected],
}

/// Objects that are protected by a finalizer.
struct Protected {
    group: &'static str,
    resource: &'static str,
    kind: &'static str,
    finalizer: &'static str,
}

const STORAGE: [Protected; 3] = [
    Protected {
        group: "",
        resource: "persistentvolumes",
        kind: "PersistentVolume",
        finalizer: "kubernetes.io/pv-protection",
    },
    Protected {
        group: "",
        resource: "persistentvolumeclaims",
        kind: "PersistentVolumeClaim",
        finalizer: "kubernetes.io/pvc-protection",
    },
    Protected {
        group: "storage.k8s.io",
        resource: "volumeattributesclasses",
        kind: "VolumeAttributesClass",
        finalizer: "kubernetes.io/vac-protection",
    },
];

const POD_GROUPS: [Protected; 1] = [Protected {
    group: "scheduling.k8s.io",
    resource: "podgroups",
    kind: "PodGroup",
    finalizer: "scheduling.k8s.io/podgroup-protection",
}];

impl PlainPlugin for Protection {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &PluginContext<'_>) -> Answer {
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
