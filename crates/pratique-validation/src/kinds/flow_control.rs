//! FlowSchemas and PriorityLevelConfigurations.

mod priority_levels;
mod schemas;

use super::KindRules;
use crate::errors::Errors;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "flowcontrol.apiserver.k8s.io",
        kind: "FlowSchema",
        is_namespaced: false,
        create: schemas::validate_flow_schema,
        update: schemas::validate_flow_schema,
        subresources: &[("status", |request, errors| {
            validate_conditions(&request.object.child("status"), errors);
        })],
    },
    KindRules {
        group: "flowcontrol.apiserver.k8s.io",
        kind: "PriorityLevelConfiguration",
        is_namespaced: false,
        create: priority_levels::validate_priority_level,
        update: priority_levels::validate_priority_level,
        subresources: &[("status", |request, errors| {
            validate_conditions(&request.object.child("status"), errors);
        })],
    },
];

/// The conditions of a status of either kind.
// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateFlowSchemaStatus, ValidatePriorityLevelConfigurationStatus
fn validate_conditions(status: &Node<'_, '_>, errors: &mut Errors) {
    let mut kinds = SeenTexts::default();
    for condition in status.child("conditions").items() {
        let kind = condition.child("type");
        if !kinds.insert(kind.as_text()) {
            errors.duplicate(kind, crate::errors::named(kind.as_text()));
        }
        if kind.as_text().is_empty() {
            errors.required(kind, "");
        }
    }
}
