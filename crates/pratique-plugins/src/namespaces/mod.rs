//! Plugins for the namespaces of requests.

mod auto_provision;
mod exists;
mod lifecycle;

use pratique_types::AdmissionRequest;

pub(crate) use auto_provision::FACTORY as NAMESPACE_AUTO_PROVISION;
pub(crate) use exists::FACTORY as NAMESPACE_EXISTS;
pub(crate) use lifecycle::FACTORY as NAMESPACE_LIFECYCLE;

/// Whether a request is for a namespace itself.
fn is_for_namespace(request: &AdmissionRequest<'_>) -> bool {
    request.kind.kind == "Namespace" && request.kind.group.is_empty()
}
