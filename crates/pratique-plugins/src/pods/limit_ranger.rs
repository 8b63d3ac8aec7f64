//! LimitRanger: defaults and bounds of resources by the limit ranges of a namespace.

mod bounds;
mod defaults;
mod index;

use std::sync::Arc;

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_plugin::{
    Effects, Gate, MutableAttributes, Operations, Plugin, PluginContext, PluginFactory, Rejection, StateKind,
};
use pratique_types::{AdmissionRequest, Operation};

use super::resources::{self, ResourceList};
use super::{containers, is_pod};

use crate::answer::{aggregate, forbidden};
use crate::object::{elements, is_kind, text};
use index::{Concern, RangeIndex};

pub(crate) const FACTORY: PluginFactory = PluginFactory {
    name: "LimitRanger",
    make: |settings| {
        Ok(Box::new(LimitRanger {
            pod_level_resources: settings.feature_gates.enabled(Gate::POD_LEVEL_RESOURCES),
            index: RangeIndex::default(),
        }))
    },
};

// Upstream: plugin/pkg/admission/limitranger/admission.go
struct LimitRanger {
    pod_level_resources: bool,
    index: RangeIndex,
}

impl Plugin for LimitRanger {
    fn name(&self) -> &str {
        FACTORY.name
    }

    fn operations(&self) -> Operations {
        Operations::of(&[Operation::Create, Operation::Update])
    }

    fn mutates(&self) -> bool {
        true
    }

    fn validates(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [StateKind] {
        &[StateKind::LIMIT_RANGE]
    }

    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if !is_limited(request) {
            return Ok(());
        }
        // Claims are not changed, but that the ranges are not known counts here already.
        let ranges = context.state.all(StateKind::LIMIT_RANGE, &request.namespace)?;
        if request.resource.resource == "pods" && is_pod(attributes.object()) {
            let concerned = self.index.of(&request.namespace, ranges, Concern::Pods);
            for range in concerned.ranges() {
                defaults::set(range, attributes);
            }
        }
        Ok(())
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Result<(), Rejection> {
        let request = attributes.request;
        if !is_limited(request) {
            return Ok(());
        }
        let ranges = context.state.all(StateKind::LIMIT_RANGE, &request.namespace)?;
        let concern = match request.resource.resource.as_str() {
            "pods" => Concern::Pods,
            _ => Concern::Claims,
        };
        let concerned = self.index.of(&request.namespace, ranges, concern);
        for range in concerned.ranges() {
            let mut errors = Vec::new();
            match request.resource.resource.as_str() {
                "pods" if is_pod(attributes.object) => self.check_pod(range, attributes.object, &mut errors),
                "persistentvolumeclaims" if is_kind(attributes.object, "", "PersistentVolumeClaim") => {
                    check_claim(range, attributes.object, &mut errors);
                }
                _ => {}
            }
            if !errors.is_empty() {
                return Err(forbidden(attributes, aggregate(&errors)));
            }
        }
        Ok(())
    }
}

impl LimitRanger {
    // Upstream: plugin/pkg/admission/limitranger/admission.go, PodValidateLimitFunc
    fn check_pod(&self, range: &Arc<Value<'static>>, pod: &Value<'_>, errors: &mut Vec<String>) {
        for item in elements(range, &["spec", "limits"]) {
            let limit_type = text(item, &["type"]);
            match limit_type {
                "Container" => {
                    for container in ["containers", "initContainers"]
                        .iter()
                        .flat_map(|list| containers(pod, list))
                    {
                        let requests = ResourceList::at(container, &["resources", "requests"]);
                        let limits = ResourceList::at(container, &["resources", "limits"]);
                        bounds::check(item, limit_type, &requests, &limits, errors);
                    }
                }
                "Pod" => {
                    let requests = resources::of_pod(pod, "requests", self.pod_level_resources);
                    let limits = resources::of_pod(pod, "limits", self.pod_level_resources);
                    bounds::check(item, limit_type, &requests, &limits, errors);
                }
                _ => {}
            }
        }
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, PersistentVolumeClaimValidateLimitFunc
fn check_claim(range: &Value<'_>, claim: &Value<'_>, errors: &mut Vec<String>) {
    for item in elements(range, &["spec", "limits"]) {
        let limit_type = text(item, &["type"]);
        if limit_type == "PersistentVolumeClaim" {
            let requests = ResourceList::at(claim, &["spec", "resources", "requests"]);
            bounds::check_requests(item, limit_type, &requests, errors);
        }
    }
}

/// Whether limit ranges concern a request: not one for an object that is being deleted.
// Upstream: plugin/pkg/admission/limitranger/admission.go, SupportsAttributes and runLimitFunc
fn is_limited(request: &AdmissionRequest<'_>) -> bool {
    let is_update = request.operation == Operation::Update;
    let is_core = request.kind.group.is_empty();
    let of_pods = is_core && request.kind.kind == "Pod";
    let supported = match request.sub_resource.as_str() {
        "resize" => of_pods && is_update,
        "" if of_pods => !is_update,
        "" => is_core && request.kind.kind == "PersistentVolumeClaim",
        _ => false,
    };
    supported && text(&request.old_object, &["metadata", "deletionTimestamp"]).is_empty()
}
