//! NamespaceAutoProvision: namespaces come into being when something is created in them.

use pratique_plugin::{
    Created, Effects, Handler, MutableAttributes, Plugin, PluginContext, PluginFactory, Rejection, StateKind,
};
use pratique_types::Operation;

use super::is_for_namespace;
use crate::object::object;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new("NamespaceAutoProvision", &[Operation::Create])
        .mutating()
        .needing(&[StateKind::NAMESPACE]),
    make: |_| Ok(Box::new(NamespaceAutoProvision)),
};

// Upstream: plugin/pkg/admission/namespace/autoprovision/admission.go
struct NamespaceAutoProvision;

impl Plugin for NamespaceAutoProvision {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        let namespace = request.namespace.as_str();
        if request.dry_run == Some(true)
            || namespace.is_empty()
            || is_for_namespace(request)
            || context.state.exists(StateKind::NAMESPACE, "", namespace)?
        {
            return Ok(());
        }
        let metadata = object([("name", namespace.to_owned().into())]);
        effects.created.push(Created {
            kind: StateKind::NAMESPACE,
            namespace: String::new(),
            name: namespace.to_owned(),
            object: object([
                ("apiVersion", "v1".into()),
                ("kind", "Namespace".into()),
                ("metadata", metadata),
            ]),
        });
        Ok(())
    }
}
