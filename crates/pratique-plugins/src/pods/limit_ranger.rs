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
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{is_kind, members, text};
use bounds::BoundPrecision;
use index::{LimitConcern, RangeIndex, concerning};
use limits::{BoundedType, RangeLimits};
use requested_amount::{PodAmounts, RequestedAmount, RoundedAmount, StoredAmounts};

/// The limit ranges of more namespaces than this are not kept.
const MAX_NAMESPACES: usize = 1024;

// Upstream: plugin/pkg/admission/limitranger/admission.go
pub(crate) struct LimitRanger {
    pod_level_resources: bool,
    /// If they are compared exactly, amounts that an update leaves as they are stored are not checked again.
    precision: BoundPrecision,
    ranges: DerivedCache<RangeIndex>,
}

impl LimitRanger {
    pub(crate) fn new(settings: &PluginSettings<'_>) -> Self {
        // Upstream: plugin/pkg/admission/limitranger/admission.go, since 1.38: quantities are compared as they are, and what is stored
        // is valid.
        let is_exact = settings.feature_gates.release().at_least(1, 38);
        LimitRanger {
            precision: if is_exact {
                BoundPrecision::Exact
            } else {
                BoundPrecision::Rounded
            },
            pod_level_resources: settings.feature_gates.is_on(gates::POD_LEVEL_RESOURCES),
            ranges: DerivedCache::new(MAX_NAMESPACES),
        }
    }
}

impl BuiltInPlugin for LimitRanger {
    fn admit(
        &self,
        attributes: &mut MutableAttributes<'_, '_>,
        context: &mut PluginCall<'_>,
    ) -> PluginAnswer {
        let request = attributes.request;
        if !is_limited(request) {
            return Ok(());
        }
        // Claims are not changed, but unknown ranges make the request undecided here already.
        let ranges = context
            .state
            .require_list(StateKind::LIMIT_RANGE, &request.namespace)?;
        if request.resource.resource == "pods" && is_pod(attributes.object()) {
            let ranges = self.ranges.get(&request.namespace, ranges);
            for limits in concerning(&ranges, LimitConcern::Pods) {
                defaults::set(&limits.defaults, attributes);
            }
        }
        Ok(())
    }

    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let request = attributes.request;
        if !is_limited(request) {
            return Ok(());
        }
        let ranges = context
            .state
            .require_list(StateKind::LIMIT_RANGE, &request.namespace)?;
        let (object, mut errors) = (attributes.object, Vec::new());
        let concern = match request.resource.resource.as_str() {
            "pods" if is_pod(object) => LimitConcern::Pods,
            "persistentvolumeclaims" if is_kind(object, "", "PersistentVolumeClaim") => LimitConcern::Claims,
            _ => return Ok(()),
        };
        let ranges = self.ranges.get(&request.namespace, ranges);
        let keeps_stored = self.precision == BoundPrecision::Exact;
        let stored = Some(&request.old_object).filter(|old| keeps_stored && !old.is_null());
        for limits in concerning(&ranges, concern) {
            match concern {
                LimitConcern::Pods => self.check_pod(limits, object, stored, &mut errors),
                LimitConcern::Claims => self.check_claim(limits, object, stored, &mut errors),
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
    fn check_pod(
        &self,
        limits: &RangeLimits,
        pod: &Value<'_>,
        stored: Option<&Value<'_>>,
        errors: &mut Vec<String>,
    ) {
        let resources = &limits.resources;
        let amounts = PodAmounts::new(pod, resources, self.pod_level_resources);
        let stored = stored.map(|pod| StoredAmounts::new(pod, resources, self.pod_level_resources));
        for item in &limits.items {
            match item.bounded {
                BoundedType::Container => {
                    for (at, container) in amounts.each().enumerate() {
                        let stored = stored.as_ref().map(|stored| stored.of_container(&amounts, at));
                        let stored = stored.unwrap_or_default();
                        bounds::check_bounds(item, resources, container, stored, self.precision, errors);
                    }
                }
                BoundedType::Pod => {
                    let of_pod = |amounts: &PodAmounts<'_, '_>| -> SmallVec<[RequestedAmount; 2]> {
                        let of_pod = (0..resources.len()).map(|place| {
                            if item.bounds(place) {
                                amounts.of_pod(place)
                            } else {
                                RequestedAmount::default()
                            }
                        });
                        of_pod.collect()
                    };
                    let stored = stored.as_ref().map(|stored| of_pod(&stored.amounts));
                    let stored = stored.unwrap_or_default();
                    let amounts = of_pod(&amounts);
                    bounds::check_bounds(item, resources, &amounts, &stored, self.precision, errors);
                }
                BoundedType::Claim => {}
            }
        }
    }

    // Upstream: plugin/pkg/admission/limitranger/admission.go, PersistentVolumeClaimValidateLimitFunc
    fn check_claim(
        &self,
        limits: &RangeLimits,
        claim: &Value<'_>,
        stored: Option<&Value<'_>>,
        errors: &mut Vec<String>,
    ) {
        const REQUESTS: &[&str] = &["spec", "resources", "requests"];
        let requested = members(claim, REQUESTS);
        let stored = stored.and_then(|claim| members(claim, REQUESTS));
        let items = limits.items.iter();
        for item in items.filter(|item| item.bounded == BoundedType::Claim) {
            let requests = |name: &str| RoundedAmount::listed(requested, name);
            let stored = |name: &str| RoundedAmount::listed(stored, name);
            bounds::check_requests(item, &limits.resources, requests, stored, self.precision, errors);
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
