//! The bounds of resources.

use pratique_gotext::quantity::MAX_MILLI_VALUE;

use super::limits::{Bounds, Item};
use super::requested_amount::{Amount, RequestedAmount};

/// Checks requested amounts by the minimum, the maximum and the ratio of an item of a limit range. Bounds and amounts
/// refer to resources by their places.
pub(super) fn check(
    item: &Item,
    resources: &[String],
    amounts: &[RequestedAmount],
    errors: &mut Vec<String>,
) {
    let rules: [(&Bounds, Rule); 3] = [
        (&item.least, below_minimum),
        (&item.most, above_maximum),
        (&item.ratios, beyond_ratio),
    ];
    for (bounds, rule) in rules {
        for (place, bound) in bounds {
            if let (Some(resource), Some(amount)) = (resources.get(*place), amounts.get(*place)) {
                errors.extend(rule(&Constraint {
                    limit_type: item.bounded.as_str(),
                    resource,
                    bound,
                    request: amount.request.as_ref(),
                    limit: amount.limit.as_ref(),
                }));
            }
        }
    }
}

/// Checks requests alone by the minimum and the maximum of an item.
pub(super) fn check_requests(
    item: &Item,
    resources: &[String],
    requests: impl Fn(&str) -> Option<Amount>,
    errors: &mut Vec<String>,
) {
    let rules: [(&Bounds, Rule); 2] = [(&item.least, below_minimum), (&item.most, request_above_maximum)];
    for (bounds, rule) in rules {
        for (place, bound) in bounds {
            let resource = resources.get(*place).map(String::as_str).unwrap_or_default();
            errors.extend(rule(&Constraint {
                limit_type: item.bounded.as_str(),
                resource,
                bound,
                request: requests(resource).as_ref(),
                limit: None,
            }));
        }
    }
}

/// A bound for a resource, with the amounts that are compared with it.
struct Constraint<'a> {
    limit_type: &'a str,
    resource: &'a str,
    bound: &'a Amount,
    request: Option<&'a Amount>,
    limit: Option<&'a Amount>,
}

/// Gives the message of a constraint that is violated.
type Rule = fn(&Constraint<'_>) -> Option<String>;

impl Constraint<'_> {
    /// The request, the limit and the bound in the same unit.
    // Upstream: plugin/pkg/admission/limitranger/admission.go, requestLimitEnforcedValues
    fn comparable(&self) -> [i64; 3] {
        let amounts = [self.request, self.limit, Some(self.bound)];
        let values = amounts.map(|amount| amount.map_or(0, |amount| amount.value));
        if values.iter().all(|value| *value <= MAX_MILLI_VALUE) {
            amounts.map(|amount| amount.map_or(0, |amount| amount.milli_value))
        } else {
            values
        }
    }

    /// The beginning of messages about a minimum or maximum: `maximum cpu usage per Pod is 2`
    fn usage(&self, extreme: &str) -> String {
        let Constraint {
            limit_type,
            resource,
            bound,
            ..
        } = self;
        format!(
            "{extreme} {resource} usage per {limit_type} is {}",
            bound.quantity
        )
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, minConstraint
fn below_minimum(constraint: &Constraint<'_>) -> Option<String> {
    let [requested, limited, least] = constraint.comparable();
    let usage = || constraint.usage("minimum");
    match (constraint.request, constraint.limit) {
        (None, _) => Some(format!("{}.  No request is specified", usage())),
        (Some(request), _) if requested < least => {
            Some(format!("{}, but request is {}", usage(), request.quantity))
        }
        (_, Some(limit)) if limited < least => Some(format!("{}, but limit is {}", usage(), limit.quantity)),
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxConstraint
fn above_maximum(constraint: &Constraint<'_>) -> Option<String> {
    let [requested, limited, most] = constraint.comparable();
    let usage = || constraint.usage("maximum");
    match (constraint.request, constraint.limit) {
        (_, None) => Some(format!("{}.  No limit is specified", usage())),
        (_, Some(limit)) if limited > most => Some(format!("{}, but limit is {}", usage(), limit.quantity)),
        (Some(request), _) if requested > most => {
            Some(format!("{}, but request is {}", usage(), request.quantity))
        }
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxRequestConstraint
fn request_above_maximum(constraint: &Constraint<'_>) -> Option<String> {
    let [requested, _, most] = constraint.comparable();
    let usage = || constraint.usage("maximum");
    match constraint.request {
        None => Some(format!("{}.  No request is specified", usage())),
        Some(request) if requested > most => {
            Some(format!("{}, but request is {}", usage(), request.quantity))
        }
        Some(_) => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, limitRequestRatioConstraint
fn beyond_ratio(constraint: &Constraint<'_>) -> Option<String> {
    let [requested, limited, _] = constraint.comparable();
    let Constraint {
        limit_type,
        resource,
        bound,
        request,
        limit,
    } = constraint;
    let rule = || {
        format!(
            "{resource} max limit to request ratio per {limit_type} is {}",
            bound.quantity
        )
    };
    if request.is_none() || requested == 0 {
        return Some(format!("{}, but no request is specified or request is 0", rule()));
    }
    if limit.is_none() || limited == 0 {
        return Some(format!("{}, but no limit is specified or limit is 0", rule()));
    }
    // As the reference computes them, in floating point.
    let ratio = limited as f64 / requested as f64;
    let exceeds = if bound.value <= MAX_MILLI_VALUE {
        ratio * 1000.0 > bound.milli_value as f64
    } else {
        ratio > bound.value as f64
    };
    exceeds.then(|| format!("{}, but provided ratio is {ratio:.6}", rule()))
}
