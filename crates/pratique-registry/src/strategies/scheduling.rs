//! `scheduling.k8s.io`.
// Upstream: pkg/registry/scheduling/*/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::gated_fields::GatedFields;
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StrategyContext};

const GROUP: &str = "scheduling.k8s.io";

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new(GROUP, "CompositePodGroup")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY)
        .gated(&[GatedField::Field(
            "PodGroupPreemptionPolicy",
            &["spec", "preemptionPolicy"],
        )]),
    ResourceStrategy::new(GROUP, "PodGroup")
        .conditional()
        .status(PartEndpoint::STATUS_ONLY.and(update_status))
        .gated(&[
            GatedField::Feature(GatedFields::new(
                "TopologyAwareWorkloadScheduling",
                &[&["spec", "schedulingConstraints"]],
            )),
            GatedField::Feature(GatedFields::new(
                "DRAWorkloadResourceClaims",
                &[&["spec", "resourceClaims"]],
            )),
            GatedField::Feature(GatedFields::new(
                "PodGroupPreemptionPolicy",
                &[&["spec", "preemptionPolicy"]],
            )),
            GatedField::Feature(GatedFields::new(
                "CompositePodGroup",
                &[&["spec", "parentCompositePodGroupName"]],
            )),
        ]),
    ResourceStrategy::new(GROUP, "PriorityClass").generation(&[]),
    ResourceStrategy::new(GROUP, "Workload").conditional().prepare(
        |context, object| drop_of_templates(context, object, None),
        |context, object, old| drop_of_templates(context, object, Some(old)),
    ),
];

/// Fields of templates of groups, by feature gate.
const TEMPLATE_FEATURES: [GatedFields; 3] = [
    GatedFields::new("TopologyAwareWorkloadScheduling", &[&["schedulingConstraints"]]),
    GatedFields::new("DRAWorkloadResourceClaims", &[&["resourceClaims"]]),
    GatedFields::new("PodGroupPreemptionPolicy", &[&["preemptionPolicy"]]),
];

const COMPOSITE_TEMPLATES: GatedFields =
    GatedFields::new("CompositePodGroup", &[&["spec", "compositePodGroupTemplates"]]);

/// Drops fields behind gates that are off, unless the old object uses them: each template is compared to the old one at
/// its place.
// Upstream: pkg/registry/scheduling/workload/strategy.go, dropDisabledWorkloadSpecFields
fn drop_of_templates<'v>(
    context: &mut StrategyContext<'_>,
    object: &mut EditedObject<'v>,
    old: Option<&Value<'v>>,
) {
    let dropper = &mut context.dropper;
    let templates: FieldPath<'_> = &["spec", "podGroupTemplates"];
    let old_templates = old.map(|old| object::list(old, templates)).unwrap_or_default();
    for (at, template) in object::list_mut(object, templates).iter_mut().enumerate() {
        let name = format!("podGroupTemplates[{at}]");
        for feature in TEMPLATE_FEATURES {
            dropper.drop_unused((&mut *template, &["spec", &name]), old_templates.get(at), feature);
        }
    }
    dropper.drop_unused((object, &[]), old, COMPOSITE_TEMPLATES);
}

fn update_status<'v>(_: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    if object::list(old, &["spec", "resourceClaims"]).is_empty() {
        object::remove(object, &["status", "resourceClaimStatuses"]);
    }
}
