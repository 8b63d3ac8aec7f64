//! DefaultStorageClass: claims that name no class get the default one.

use pratique_plugin::{Handler, MutableAttributes, PluginContext, PluginFactory, StateKind};
use pratique_types::Operation;

use super::default_class::default_class;
use crate::object::{has_annotation, is_kind, name, set_at};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("DefaultStorageClass", &[Operation::Create])
        .mutating()
        .needing(&[StateKind::STORAGE_CLASS]),
    make: |_| plain(FACTORY.handler, DefaultStorageClass),
};

// Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go
struct DefaultStorageClass;

/// The annotation by which claims named their class once.
pub(super) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

const MARKS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

impl PlainPlugin for DefaultStorageClass {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, context: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let resource = &request.resource;
        let claim = attributes.object();
        if resource.resource != "persistentvolumeclaims"
            || !resource.group.is_empty()
            || !request.sub_resource.is_empty()
            || !is_kind(claim, "", "PersistentVolumeClaim")
            || has_annotation(claim, BETA_CLASS)
            || claim
                .at(&["spec", "storageClassName"])
                .is_some_and(|class| !class.is_null())
        {
            return Ok(());
        }
        let classes = context.state.all(StateKind::STORAGE_CLASS, "")?;
        if let Some(class) = default_class(classes, &MARKS) {
            let class = name(class).to_owned();
            set_at(attributes.object_mut(), &["spec"], "storageClassName", class);
        }
        Ok(())
    }
}
