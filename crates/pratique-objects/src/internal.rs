//! The changes of objects that are brought into the internal version of their kind and back, by types upstream.
//!
//! A generated table says where a conversion is written by hand, and where a field that is absent has the zero value
//! then, since the internal one is no pointer. `data/functions.txt` has the conversions by hand that are no more than
//! steps, and those that change nothing; here are the others.
// Upstream: pkg/apis/GROUP/VERSION/conversion.go

mod apps;
mod autoscaling;
mod core;
mod others;

use crate::defaults::DefaultFunction;

pub(crate) use core::drop_annotations;

/// The steps of a conversion that is written by hand, by the name of the external type: `core/v1.PodSpec`.
pub(crate) fn function(name: &str) -> Option<DefaultFunction> {
    let (package, of) = name.split_once('.')?;
    let (group, version) = package.split_once('/')?;
    match (group, version, of) {
        ("core", _, _) => core::function(of),
        ("apps" | "extensions", _, _) => apps::function(of),
        ("autoscaling", _, "HorizontalPodAutoscaler") => autoscaling::function(version),
        ("discovery", "v1beta1", "Endpoint") => Some(others::endpoint),
        ("flowcontrol", "v1beta3", "PriorityLevelConfiguration") => Some(others::priority_level),
        ("policy", "v1", "PodDisruptionBudget") => Some(others::stable_disruption_budget),
        ("policy", "v1beta1", "PodDisruptionBudget") => Some(others::disruption_budget),
        ("rbac", "v1alpha1", "Subject") => Some(others::subject),
        _ => None,
    }
}
