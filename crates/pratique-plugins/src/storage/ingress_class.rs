//! DefaultIngressClass: ingresses that name no class get the default one.

use pratique_plugin::{Handler, MutableAttributes, PluginContext, PluginFactory, StateKind};
use pratique_types::Operation;

use super::default_class::default_class;
use crate::answer::internal;
use crate::object::{has_annotation, is_kind, name, set_at};
use crate::plain::{Answer, PlainPlugin, plain};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("DefaultIngressClass", &[Operation::Create])
        .mutating()
        .needing(&[StateKind::INGRESS_CLASS]),
    make: |_| plain(FACTORY.handler, DefaultIngressClass),
};

// Upstream: plugin/pkg/admission/network/defaultingressclass/admission.go
struct DefaultIngressClass;

/// The annotation by which ingresses named their class once.
const CLASS: &str = "kubernetes.io/ingress.class";
const MARK: &str = "ingressclass.kubernetes.io/is-default-class";

impl PlainPlugin for DefaultIngressClass {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, context: &PluginContext<'_>) -> Answer {
        let request = attributes.request;
        let resource = &request.resource;
        if resource.resource != "ingresses"
            || resource.group != "networking.k8s.io"
            || !request.sub_resource.is_empty()
        {
            return Ok(());
        }
        let ingress = attributes.object();
        if !is_kind(ingress, "networking.k8s.io", "Ingress") && !is_kind(ingress, "extensions", "Ingress") {
            let kind = go_kind(&request.kind);
            return Err(internal(&format!("Expected Ingress resource, got: {kind}")));
        }
        let is_set = ingress
            .at(&["spec", "ingressClassName"])
            .is_some_and(|class| !class.is_null());
        if is_set || has_annotation(ingress, CLASS) {
            return Ok(());
        }
        let classes = context.state.all(StateKind::INGRESS_CLASS, "")?;
        if let Some(class) = default_class(classes, &[MARK]) {
            let class = name(class).to_owned();
            set_at(attributes.object_mut(), &["spec"], "ingressClassName", class);
        }
        Ok(())
    }
}

/// A kind as Go shows it.
// Upstream: apimachinery/pkg/runtime/schema/group_version.go, GroupVersionKind.String
pub(super) fn go_kind(kind: &pratique_types::GroupVersionKind) -> String {
    format!("{}/{}, Kind={}", kind.group, kind.version, kind.kind)
}
