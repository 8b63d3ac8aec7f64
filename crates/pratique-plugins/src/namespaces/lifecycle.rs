//! NamespaceLifecycle: nothing is created in namespaces that do not exist or end, and some namespaces stay.

use pratique_plugin::{Lookup, MutableAttributes, PluginSettings, StateKind};
use pratique_types::{Operation, StatusCause};

use super::{created, is_for_namespace, is_terminating};
use crate::answer::{forbidden_as, forbidden_status, not_found};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};

// Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go
pub(crate) struct NamespaceLifecycle {
    /// Whether updates pass in namespaces that exist only.
    checks_updates: bool,
}

impl NamespaceLifecycle {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        NamespaceLifecycle {
            // 1.37 no longer looks at updates.
            checks_updates: !settings.feature_gates.release().at_least(1, 37),
        }
    }
}

/// Namespaces that may not be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

impl BuiltInPlugin for NamespaceLifecycle {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, call: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        if is_for_namespace(request) {
            let is_immortal = IMMORTAL.contains(&request.name.as_str());
            return if request.operation == Operation::Delete && is_immortal {
                Err(forbidden_as(
                    &request.resource,
                    &request.name,
                    "this namespace may not be deleted",
                ))
            } else {
                Ok(())
            };
        }
        let resource = &request.resource;
        let reviews_access =
            resource.group == "authorization.k8s.io" && resource.resource == "localsubjectaccessreviews";
        let is_checked = match request.operation {
            Operation::Update => self.checks_updates,
            operation => operation != Operation::Delete,
        };
        if !is_checked || request.namespace.is_empty() || reviews_access {
            return Ok(());
        }
        let namespace = request.namespace.as_str();
        let stored = call.state.get(StateKind::NAMESPACE, "", namespace);
        match stored {
            Lookup::Found(_) | Lookup::Named => {}
            Lookup::Absent if created(call.effects, namespace).is_some() => {}
            Lookup::Absent => return Err(not_found("", "namespaces", namespace)),
            Lookup::Unknown => return Err(StateKind::NAMESPACE.missing("", Some(namespace))),
        }
        if request.operation == Operation::Update || !is_terminating(stored) {
            return Ok(());
        }
        let error =
            format!("unable to create new content in namespace {namespace} because it is being terminated");
        let mut status = forbidden_status(&attributes.as_attributes(), &error);
        if let Some(details) = &mut status.details {
            details.causes.push(StatusCause {
                reason: "NamespaceTerminating".to_owned(),
                message: format!("namespace {namespace} is being terminated"),
                field: "metadata.namespace".to_owned(),
            });
        }
        Err(status.into())
    }
}
