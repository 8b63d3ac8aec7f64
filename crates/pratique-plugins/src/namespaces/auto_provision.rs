//! NamespaceAutoProvision: namespaces come into being when something is created in them.

use pratique_plugin::{CreatedObject, MutableAttributes, StateKind};

use super::is_for_namespace;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::object;

// Upstream: plugin/pkg/admission/namespace/autoprovision/admission.go
pub(crate) struct NamespaceAutoProvision;

impl BuiltInPlugin for NamespaceAutoProvision {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let namespace = request.namespace.as_str();
        if request.dry_run == Some(true)
            || namespace.is_empty()
            || is_for_namespace(request)
            || call.state.exists(StateKind::NAMESPACE, "", namespace)?
        {
            return Ok(());
        }
        let metadata = object([("name", namespace.to_owned().into())]);
        call.effects.created.push(CreatedObject {
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
