//! The measures of quotas for the objects of a resource.

use std::time::Duration;

use pratique_core::Attributes;
use pratique_gotext::quantity::Quantity;
use pratique_json::Value;
use pratique_plugin::{ClusterState, Rejection, StateKind};
use pratique_types::{GroupVersionResource, Operation};

use crate::fields::text_at;
use crate::names;
use crate::usage::{
    DeviceClasses, UsageRules, attributes_classes, is_best_effort, is_terminating, missing_requests,
    pod_usage, resource_claim_usage, service_usage, uses_cross_namespace_affinity, volume_claim_usage,
};
use crate::{LimitedResource, QuotaError, ResourceList, ScopeSelector};

/// The measure of quotas for the objects of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredResource {
    Pods,
    Services,
    VolumeClaims,
    ResourceClaims,
    /// Only their number.
    Count {
        /// `count/deployments.apps`
        name: String,
        /// An older name for the same, empty if there is none.
        alias: &'static str,
    },
}

/// The inputs of measuring besides the object.
#[derive(Clone, Copy)]
pub(crate) struct MeasureInputs<'a> {
    pub(crate) state: &'a dyn ClusterState,
    /// Resources that may be used only where a quota covers them.
    pub(crate) limited: &'a [LimitedResource],
    pub(crate) rules: UsageRules,
    pub(crate) now: Duration,
    pub(crate) namespace: &'a str,
    /// The classes of devices, where they count as extended resources.
    pub(crate) classes: Option<DeviceClasses<'a>>,
}

impl<'a> MeasureInputs<'a> {
    /// With the classes of devices, if they matter.
    pub(crate) fn with_classes(self, measured: &MeasuredResource) -> Result<Self, Rejection> {
        let counts = *measured == MeasuredResource::ResourceClaims && self.rules.has_extended_devices;
        let classes = if counts {
            Some(DeviceClasses(
                self.state.require_list(StateKind::DEVICE_CLASS, "")?,
            ))
        } else {
            None
        };
        Ok(MeasureInputs { classes, ..self })
    }
}

impl MeasuredResource {
    /// The measure of a resource; `None` for resources that quotas ignore.
    // Upstream: pkg/quota/v1/install/registry.go, ignoredResources; pkg/quota/v1/evaluator/core/registry.go, NewEvaluators
    pub(crate) fn from_resource(resource: &GroupVersionResource) -> Option<Self> {
        let alias = match (resource.group.as_str(), resource.resource.as_str()) {
            ("", "bindings" | "componentstatuses" | "events") | ("events.k8s.io", "events") => return None,
            ("authentication.k8s.io", "tokenreviews" | "selfsubjectreviews") => return None,
            (
                "authorization.k8s.io",
                "subjectaccessreviews"
                | "selfsubjectaccessreviews"
                | "localsubjectaccessreviews"
                | "selfsubjectrulesreviews",
            ) => return None,
            ("", "pods") => return Some(MeasuredResource::Pods),
            ("", "services") => return Some(MeasuredResource::Services),
            ("", "persistentvolumeclaims") => return Some(MeasuredResource::VolumeClaims),
            ("resource.k8s.io", "resourceclaims") => return Some(MeasuredResource::ResourceClaims),
            ("", "configmaps") => "configmaps",
            ("", "resourcequotas") => "resourcequotas",
            ("", "replicationcontrollers") => "replicationcontrollers",
            ("", "secrets") => "secrets",
            _ => "",
        };
        let mut name = format!("count/{}", resource.resource);
        if !resource.group.is_empty() {
            name.push('.');
            name.push_str(&resource.group);
        }
        Some(MeasuredResource::Count { name, alias })
    }

    /// Whether a request can change the usage.
    pub(crate) fn handles(&self, attributes: &Attributes<'_>) -> bool {
        let request = attributes.request;
        let is_create = request.operation == Operation::Create;
        let is_update = request.operation == Operation::Update;
        match (self, request.sub_resource.as_str()) {
            (MeasuredResource::Pods, "") => {
                let changes_scope =
                    || is_terminating(&request.old_object) != is_terminating(attributes.object);
                is_create || (is_update && changes_scope())
            }
            (MeasuredResource::Pods, "resize") => is_update,
            (MeasuredResource::VolumeClaims, "status") => is_update,
            (
                MeasuredResource::Services
                | MeasuredResource::VolumeClaims
                | MeasuredResource::ResourceClaims,
                "",
            ) => is_create || is_update,
            (MeasuredResource::Count { .. }, "") => is_create,
            _ => false,
        }
    }

    /// How often a name of a quota is measured.
    pub(crate) fn matches(&self, name: &str, rules: UsageRules, classes: Option<DeviceClasses<'_>>) -> usize {
        match self {
            MeasuredResource::Pods => names::of_pods(name, rules.release),
            MeasuredResource::Services => usize::from(names::is_of_services(name)),
            MeasuredResource::VolumeClaims => usize::from(names::is_of_volume_claims(name)),
            MeasuredResource::ResourceClaims => usize::from(is_of_resource_claims(name, rules, classes)),
            MeasuredResource::Count { name: count, alias } => {
                usize::from(name == count || (!alias.is_empty() && name == *alias))
            }
        }
    }

    /// Whether objects have scopes. Quotas with scopes do not cover others.
    pub(crate) fn has_scopes(&self) -> bool {
        matches!(self, MeasuredResource::Pods | MeasuredResource::VolumeClaims)
    }

    /// Whether an object is in a scope.
    // Upstream: pkg/quota/v1/evaluator/core/pods.go, podMatchesScopeFunc; persistent_volume_claims.go, pvcMatchesScopeFunc
    pub(crate) fn is_in_scope(
        &self,
        object: &Value<'_>,
        selector: &ScopeSelector,
        measuring: &MeasureInputs<'_>,
    ) -> Result<bool, QuotaError> {
        match (self, selector.scope.as_str()) {
            (MeasuredResource::Pods, "Terminating") => Ok(is_terminating(object)),
            (MeasuredResource::Pods, "NotTerminating") => Ok(!is_terminating(object)),
            (MeasuredResource::Pods, "BestEffort") => is_best_effort(object, measuring.rules.has_pod_level),
            (MeasuredResource::Pods, "NotBestEffort") => {
                Ok(!is_best_effort(object, measuring.rules.has_pod_level)?)
            }
            (MeasuredResource::Pods, "PriorityClass") => {
                match text_at(object, &["spec", "priorityClassName"]) {
                    "" => selector.selects(&[]),
                    class => selector.selects(&[class]),
                }
            }
            (MeasuredResource::Pods, "CrossNamespacePodAffinity") => {
                Ok(uses_cross_namespace_affinity(object))
            }
            (MeasuredResource::VolumeClaims, "VolumeAttributesClass") => {
                selector.selects(&attributes_classes(object))
            }
            _ => Ok(false),
        }
    }

    /// Whether a selector fails for every object.
    pub(crate) fn is_invalid_scope(&self, selector: &ScopeSelector) -> bool {
        let is_read = match self {
            MeasuredResource::Pods => selector.scope == "PriorityClass",
            MeasuredResource::VolumeClaims => selector.scope == "VolumeAttributesClass",
            _ => false,
        };
        is_read && selector.is_invalid()
    }

    /// The message about requests and limits that an object lacks, where a quota limits these resources.
    pub(crate) fn missing(&self, object: &Value<'_>, limited: &[&str], pod_level: bool) -> Option<String> {
        match self {
            MeasuredResource::Pods => missing_requests(object, limited, pod_level),
            _ => None,
        }
    }

    /// The usage of an object.
    pub(crate) fn usage<'a>(
        &'a self,
        object: &'a Value<'a>,
        measuring: &MeasureInputs<'a>,
    ) -> Result<ResourceList<'a>, Rejection> {
        let usage = match self {
            MeasuredResource::Pods => pod_usage(object, measuring.now, measuring.rules),
            MeasuredResource::Services => service_usage(object),
            MeasuredResource::VolumeClaims => volume_claim_usage(object),
            MeasuredResource::ResourceClaims => return self.claim_usage(object, measuring),
            MeasuredResource::Count { name, alias } => count(name, alias),
        };
        Ok(usage?)
    }

    fn claim_usage<'a>(
        &self,
        claim: &'a Value<'a>,
        measuring: &MeasureInputs<'a>,
    ) -> Result<ResourceList<'a>, Rejection> {
        resource_claim_usage(
            claim,
            measuring.namespace,
            measuring.now,
            measuring.rules,
            measuring.classes,
            measuring.state,
        )
    }
}

// Upstream: pkg/quota/v1/evaluator/core/resource_claims.go, claimEvaluator.MatchingResources
fn is_of_resource_claims(name: &str, rules: UsageRules, classes: Option<DeviceClasses<'_>>) -> bool {
    if name == "count/resourceclaims.resource.k8s.io" || name.ends_with(names::PER_CLASS) {
        return true;
    }
    let (Some(classes), Some(resource)) = (classes, name.strip_prefix("requests.")) else {
        return false;
    };
    let implicit = resource.strip_prefix(names::DEVICE_CLASS);
    implicit.is_some_and(|class| !classes.resource_of(class).is_empty())
        || (names::is_extended_request(name, rules.release) && classes.provides(resource))
}

fn count<'a>(name: &'a str, alias: &'a str) -> Result<ResourceList<'a>, QuotaError> {
    let one = Quantity::parse("1")?;
    let mut usage = ResourceList::default();
    if !alias.is_empty() {
        usage.set(alias, one.clone());
    }
    usage.set(name, one);
    Ok(usage)
}
