//! LimitRanger: defaults and bounds of resources by the limit ranges of a namespace.

mod bounds;
mod defaults;
mod index;
mod limits;
mod requested_amount;

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_plugin::{DerivedCache, MutableAttributes, PluginSettings, StateKind, gates};
use pratique_types::{AdmissionRequest, Operation};
use smallvec::SmallVec;

use super::is_pod;
use crate::answer::{aggregate, forbidden};
use crate::built_in::{Answer, BuiltInPlugin, Call};
use crate::object::{is_kind, members, text};
use index::{Concern, RangeIndex, concerning};
use limits::{Bounded, Limits};
use requested_amount::{Amount, PodAmounts, RequestedAmount};

/// The limit ranges of more namespaces than this are not kept.
const MAX_NAMESPACES: usize = 1024;

// Upstream: plugin/pkg/admission/limitranger/admission.go
pub(crate) struct LimitRanger {
    pod_level_resources: bool,
    ranges: DerivedCache<RangeIndex>,
}

impl LimitRanger {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        LimitRanger {
            pod_level_resources: settings.feature_gates.is_on(gates::POD_LEVEL_RESOURCES),
            ranges: DerivedCache::new(MAX_NAMESPACES),
        }
    }
}

impl BuiltInPlugin for LimitRanger {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, context: &mut Call<'_>) -> Answer {
        let request = attributes.request;
        if !is_limited(request) {
            return Ok(());
        }
        // Claims are not changed, but unknown ranges make the request undecided here already.
        let ranges = context.state.all(StateKind::LIMIT_RANGE, &request.namespace)?;
        if request.resource.resource == "pods" && is_pod(attributes.object()) {
            let ranges = self.ranges.get(&request.namespace, ranges);
            for limits in concerning(&ranges, Concern::Pods) {
                defaults::set(&limits.defaults, attributes);
            }
        }
        Ok(())
    }

    fn validate(&self, attributes: &Attributes<'_>, context: &mut Call<'_>) -> Answer {
        let request = attributes.request;
        if !is_limited(request) {
            return Ok(());
        }
        let ranges = context.state.all(StateKind::LIMIT_RANGE, &request.namespace)?;
        let (object, mut errors) = (attributes.object, Vec::new());
        let concern = match request.resource.resource.as_str() {
            "pods" if is_pod(object) => Concern::Pods,
            "persistentvolumeclaims" if is_kind(object, "", "PersistentVolumeClaim") => Concern::Claims,
            _ => return Ok(()),
        };
        let ranges = self.ranges.get(&request.namespace, ranges);
        for limits in concerning(&ranges, concern) {
            match concern {
                Concern::Pods => self.check_pod(limits, object, &mut errors),
                Concern::Claims => check_claim(limits, object, &mut errors),
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
    fn check_pod(&self, limits: &Limits, pod: &Value<'_>, errors: &mut Vec<String>) {
        let resources = &limits.resources;
        let amounts = PodAmounts::new(pod, resources, self.pod_level_resources);
        for item in &limits.items {
            match item.bounded {
                Bounded::Container => {
                    for container in amounts.each() {
                        bounds::check(item, resources, container, errors);
                    }
                }
                Bounded::Pod => {
                    let of_pod = (0..resources.len()).map(|place| {
                        if item.bounds(place) {
                            amounts.of_pod(place)
                        } else {
                            RequestedAmount::default()
                        }
                    });
                    let of_pod: SmallVec<[RequestedAmount; 2]> = of_pod.collect();
                    bounds::check(item, resources, &of_pod, errors);
                }
                Bounded::Claim => {}
            }
        }
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, PersistentVolumeClaimValidateLimitFunc
fn check_claim(limits: &Limits, claim: &Value<'_>, errors: &mut Vec<String>) {
    let requested = members(claim, &["spec", "resources", "requests"]);
    let items = limits.items.iter();
    for item in items.filter(|item| item.bounded == Bounded::Claim) {
        let requests = |name: &str| Amount::listed(requested, name);
        bounds::check_requests(item, &limits.resources, requests, errors);
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
