//! Plugins for the namespaces of requests.

mod auto_provision;
mod exists;
mod lifecycle;

use pratique_json::Value;
use pratique_plugin::{Effects, Lookup, Rejection, StateKind};
use pratique_types::AdmissionRequest;

use crate::built_in::PluginCall;

pub(crate) use auto_provision::NamespaceAutoProvision;
pub(crate) use exists::NamespaceExists;
pub(crate) use lifecycle::NamespaceLifecycle;

/// Whether a request is for a namespace itself.
fn is_for_namespace(request: &AdmissionRequest<'_>) -> bool {
    request.kind.is_core("Namespace")
}

/// A namespace that is stored, or that an earlier plugin creates.
pub(crate) fn namespace<'a>(
    call: &'a PluginCall<'_>,
    name: &str,
) -> Result<Option<&'a Value<'a>>, Rejection> {
    let stored = call.state.find(StateKind::NAMESPACE, "", name)?;
    Ok(stored.or_else(|| created(call.effects, name)))
}

/// Whether a namespace is stored, or an earlier plugin creates it.
fn exists(call: &PluginCall<'_>, name: &str) -> Result<bool, Rejection> {
    Ok(call.state.exists(StateKind::NAMESPACE, "", name)? || created(call.effects, name).is_some())
}

/// Whether a namespace is being deleted. One of which only the name is known is assumed to be in use, as nearly all
/// are.
fn is_terminating(namespace: Lookup<'_>) -> bool {
    match namespace {
        Lookup::Found(stored) => {
            let phase = stored.at(&["status", "phase"]);
            phase.and_then(Value::as_str) == Some("Terminating")
        }
        Lookup::Absent | Lookup::Named | Lookup::Unknown => false,
    }
}

fn created<'a>(effects: &'a Effects, name: &str) -> Option<&'a Value<'a>> {
    let mut created = effects.created.iter();
    let namespace = created.find(|created| created.kind == StateKind::NAMESPACE && created.name == name)?;
    Some(&namespace.object)
}
