//! What changes in objects that are brought into the internal version of their kind and back, by types upstream.
//!
//! A generated table says where a conversion is written by hand, and where a field that is absent has the zero value
//! then, since the internal one is no pointer. Of the conversions by hand, these change something.
// Upstream: pkg/apis/GROUP/VERSION/conversion.go

mod apps;
mod autoscaling;
mod core;
mod definitions;
mod others;

use pratique_json::Object;

use crate::defaults::Function;

/// What is done where a conversion is written by hand, by the name of the external type: `core/v1.PodSpec`.
pub(crate) fn function(name: &str) -> Option<Function> {
    let (package, of) = name.split_once('.')?;
    let (group, version) = package.split_once('/')?;
    match (group, version, of) {
        ("core", _, _) => core::function(of),
        ("apps" | "extensions", _, "DaemonSet" | "Deployment" | "ScaleStatus" | "StatefulSetSpec") => {
            apps::function(of)
        }
        ("apiextensions", _, _) => definitions::function(of),
        ("autoscaling", _, "HorizontalPodAutoscaler") => autoscaling::function(version),
        ("discovery", "v1beta1", "Endpoint") => Some(others::endpoint),
        ("flowcontrol", "v1beta3", "PriorityLevelConfiguration") => Some(others::priority_level),
        ("policy", "v1", "PodDisruptionBudget") => Some(others::disruption_budget),
        ("policy", "v1beta1", "PodDisruptionBudget") => Some(others::disruption_budget_v1beta1),
        ("rbac", "v1alpha1", "Subject") => Some(others::subject),
        ("resource", "v1beta1", "Device") => Some(others::device),
        _ => UNCHANGED
            .contains(&name)
            .then_some(|_: &mut Object<'_>, _: &_| {}),
    }
}

/// Types in which nothing changes that is written: fields have other names or places in the internal version, or the
/// conversion is there for others to call.
const UNCHANGED: [&str; 25] = [
    "admissionregistration/v1.RuleWithOperations",
    "apps/v1.DaemonSetSpec",
    "apps/v1.DeploymentSpec",
    "apps/v1beta2.DaemonSetSpec",
    "apps/v1beta2.DeploymentSpec",
    "authentication/v1.UserInfo",
    "autoscaling/v1.CrossVersionObjectReference",
    "autoscaling/v1.HorizontalPodAutoscalerSpec",
    "autoscaling/v1.HorizontalPodAutoscalerStatus",
    "batch/v1.JobSpec",
    "events/v1.Event",
    "events/v1beta1.Event",
    "extensions/v1beta1.IPBlock",
    "extensions/v1beta1.IngressBackend",
    "extensions/v1beta1.IngressSpec",
    "extensions/v1beta1.NetworkPolicyEgressRule",
    "extensions/v1beta1.NetworkPolicyIngressRule",
    "extensions/v1beta1.NetworkPolicySpec",
    "flowcontrol/v1beta1.LimitedPriorityLevelConfiguration",
    "flowcontrol/v1beta2.LimitedPriorityLevelConfiguration",
    "networking/v1beta1.IngressBackend",
    "networking/v1beta1.IngressSpec",
    "node/v1alpha1.RuntimeClass",
    "resource/v1beta1.DeviceRequest",
    "resource/v1beta1.ResourceSliceSpec",
];
