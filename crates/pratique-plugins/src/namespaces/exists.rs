//! NamespaceExists: requests are for namespaces that exist.

use pratique_core::Attributes;
use pratique_plugin::{Effects, Handler, Plugin, PluginContext, PluginFactory, Rejection, StateKind};
use pratique_types::Operation;

use super::is_for_namespace;
use crate::answer::not_found;

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    handler: Handler::new(
        "NamespaceExists",
        &[Operation::Create, Operation::Update, Operation::Delete],
    )
    .validating()
    .needing(&[StateKind::NAMESPACE]),
    make: |_| Ok(Box::new(NamespaceExists)),
};

// Upstream: plugin/pkg/admission/namespace/exists/admission.go
struct NamespaceExists;

impl Plugin for NamespaceExists {
    fn handler(&self) -> &Handler {
        &FACTORY.handler
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        effects: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        let namespace = request.namespace.as_str();
        let exists =
            namespace.is_empty() || is_for_namespace(request) || super::exists(context, effects, namespace)?;
        match exists {
            true => Ok(()),
            false => Err(not_found("", "namespaces", namespace)),
        }
    }
}
