//! NamespaceExists: requests are for namespaces that exist.

use pratique_core::Attributes;

use super::is_for_namespace;
use crate::answer::not_found;
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};

// Upstream: plugin/pkg/admission/namespace/exists/admission.go
pub(crate) struct NamespaceExists;

impl BuiltInPlugin for NamespaceExists {
    fn validate(&self, attributes: &Attributes<'_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        let namespace = request.namespace.as_str();
        let exists = namespace.is_empty() || is_for_namespace(request) || super::exists(call, namespace)?;
        if exists {
            Ok(())
        } else {
            Err(not_found("", "namespaces", namespace))
        }
    }
}
