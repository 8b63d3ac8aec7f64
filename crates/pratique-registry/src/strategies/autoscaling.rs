//! `autoscaling`.
// Upstream: pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::gated_fields::GatedFields;
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StrategyContext};

pub(super) const STRATEGIES: &[ResourceStrategy] =
    &[ResourceStrategy::new("autoscaling", "HorizontalPodAutoscaler")
        .generation(&[&["spec"]])
        .generation_of("HPAGeneration")
        .status(PartEndpoint::STATUS)
        .gated(&[GatedField::Feature(GatedFields::graduated(
            "HPAConfigurableTolerance",
            &[&["spec", "behavior", "scaleUp|scaleDown", "tolerance"]],
        ))])
        .prepare(create, update)];

/// The annotations in which `autoscaling/v1` keeps parts of the status that its type has no fields for.
const STATUS_ANNOTATIONS: &[FieldPath<'static>] = &[
    &[
        "metadata",
        "annotations",
        "autoscaling.alpha.kubernetes.io/conditions",
    ],
    &[
        "metadata",
        "annotations",
        "autoscaling.alpha.kubernetes.io/current-metrics",
    ],
];

fn create(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    if context.kind.version == "v1" {
        for path in STATUS_ANNOTATIONS {
            object::remove(object, path);
        }
        object::remove_if_empty(object, &["metadata", "annotations"]);
    }
}

fn update<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    if context.kind.version == "v1" {
        for path in STATUS_ANNOTATIONS {
            object::copy(object, old, path);
        }
        object::remove_if_empty(object, &["metadata", "annotations"]);
    }
}
