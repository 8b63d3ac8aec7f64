//! `scheduling.k8s.io`.
// Upstream: pkg/registry/scheduling/*/strategy.go

use pratique_json::Value;

use crate::gated_fields::GatedFields;
use crate::object::{self, Path};
use crate::strategy::{Context, Endpoint, Gated, Strategy};

const GROUP: &str = "scheduling.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(GROUP, "CompositePodGroup")
        .conditional()
        .status(Endpoint::STATUS_ONLY)
        .gated(&[Gated::Field(
            "PodGroupPreemptionPolicy",
            &["spec", "preemptionPolicy"],
        )]),
    Strategy::new(GROUP, "PodGroup")
        .conditional()
        .status(Endpoint::STATUS_ONLY.and(update_status))
        .gated(&[
            Gated::Feature(GatedFields::new(
                "TopologyAwareWorkloadScheduling",
                &[&["spec", "schedulingConstraints"]],
            )),
            Gated::Feature(GatedFields::new(
                "DRAWorkloadResourceClaims",
                &[&["spec", "resourceClaims"]],
            )),
            Gated::Feature(GatedFields::new(
                "PodGroupPreemptionPolicy",
                &[&["spec", "preemptionPolicy"]],
            )),
            Gated::Feature(GatedFields::new(
                "CompositePodGroup",
                &[&["spec", "parentCompositePodGroupName"]],
            )),
        ]),
    Strategy::new(GROUP, "PriorityClass").generation(&[]),
    Strategy::new(GROUP, "Workload").conditional().prepare(
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
fn drop_of_templates<'v>(context: &mut Context<'_>, object: &mut Value<'v>, old: Option<&Value<'v>>) {
    let dropper = &mut context.dropper;
    let templates: Path<'_> = &["spec", "podGroupTemplates"];
    let old_templates = old.map(|old| object::list(old, templates)).unwrap_or_default();
    for (at, template) in object::list_mut(object, templates).iter_mut().enumerate() {
        let name = format!("podGroupTemplates[{at}]");
        for feature in TEMPLATE_FEATURES {
            dropper.drop_unused((&mut *template, &["spec", &name]), old_templates.get(at), feature);
        }
    }
    dropper.drop_unused((object, &[]), old, COMPOSITE_TEMPLATES);
}

fn update_status<'v>(_: &mut Context<'_>, object: &mut Value<'v>, old: &Value<'v>) {
    if object::list(old, &["spec", "resourceClaims"]).is_empty() {
        object::remove(object, &["status", "resourceClaimStatuses"]);
    }
}
