//! DefaultStorageClass and DefaultIngressClass: claims and ingresses that name no class get the default one.

use std::cmp::Reverse;
use std::sync::Arc;

use pratique_gotext::time::Timestamp;
use pratique_json::Value;
use pratique_plugin::{MutableAttributes, StateKind};

use crate::answer::expected_resource;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{annotation, has_annotation, is_kind, name, set_at, text};

/// A plugin that sets the class of new objects.
// Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go
// Upstream: plugin/pkg/admission/network/defaultingressclass/admission.go
pub(crate) struct DefaultClass {
    /// The groups and the kind of the objects.
    groups: &'static [&'static str],
    kind: &'static str,
    /// Whether objects of other kinds are refused.
    is_required: bool,
    /// The field that names the class.
    field: &'static str,
    /// The annotation that named the class once.
    older: &'static str,
    classes: StateKind,
    /// The annotations that mark a class as the default.
    marks: &'static [&'static str],
}

/// The annotation by which claims named their class once.
pub(super) const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(crate) const STORAGE_CLASS: DefaultClass = DefaultClass {
    groups: &[""],
    kind: "PersistentVolumeClaim",
    is_required: false,
    field: "storageClassName",
    older: BETA_CLASS,
    classes: StateKind::STORAGE_CLASS,
    marks: &[
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ],
};

pub(crate) const INGRESS_CLASS: DefaultClass = DefaultClass {
    groups: &["networking.k8s.io", "extensions"],
    kind: "Ingress",
    is_required: true,
    field: "ingressClassName",
    older: "kubernetes.io/ingress.class",
    classes: StateKind::INGRESS_CLASS,
    marks: &["ingressclass.kubernetes.io/is-default-class"],
};

impl BuiltInPlugin for DefaultClass {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let object = attributes.object();
        if !self.groups.iter().any(|group| is_kind(object, group, self.kind)) {
            return if self.is_required {
                Err(expected_resource(self.kind, attributes.request))
            } else {
                Ok(())
            };
        }
        let named = object.at(&["spec", self.field]);
        if named.is_some_and(|class| !class.is_null()) || has_annotation(object, self.older) {
            return Ok(());
        }
        let classes = context.state.require_list(self.classes, "")?;
        if let Some(class) = default_class(classes, self.marks) {
            let class = name(class).to_owned();
            set_at(attributes.object_mut(), &["spec"], self.field, class);
        }
        Ok(())
    }
}

/// The newest of the classes that an annotation marks as the default, and of equally old ones the first by name.
// Upstream: pkg/volume/util/storageclass.go, GetDefaultClass
fn default_class<'s>(classes: &'s [Arc<Value<'static>>], marks: &[&str]) -> Option<&'s Value<'static>> {
    let is_default = |class: &Value<'_>| marks.iter().any(|mark| annotation(class, mark) == Some("true"));
    let classes = classes.iter().map(Arc::as_ref).filter(|class| is_default(class));
    classes.min_by_key(|class| (Reverse(created(class)), name(class)))
}

/// The creation time of an object, to compare; the earliest time where it is missing.
fn created(object: &Value<'_>) -> Option<Timestamp> {
    Timestamp::parse(text(object, &["metadata", "creationTimestamp"])).ok()
}
