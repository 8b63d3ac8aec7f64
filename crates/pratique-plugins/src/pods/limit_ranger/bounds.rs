//! The bounds of resources.

use std::cmp::Ordering;

use pratique_gotext::quantity::MAX_MILLI_VALUE;

use super::limits::{AmountBounds, TypeBounds};
use super::requested_amount::{RequestedAmount, RoundedAmount};

/// How amounts are compared with bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundPrecision {
    /// As whole numbers of thousandths, or of ones where these are too large.
    Rounded,
    Exact,
}

/// Checks requested amounts by the minimum, the maximum and the ratio of an item of a limit range. Bounds and amounts
/// refer to resources by their places. Amounts that are stored already are not checked again.
pub(super) fn check_bounds(
    item: &TypeBounds,
    resources: &[String],
    amounts: &[RequestedAmount],
    stored: &[RequestedAmount],
    precision: BoundPrecision,
    errors: &mut Vec<String>,
) {
    let rules: [(&AmountBounds, ConstraintRule); 3] = [
        (&item.least, below_minimum),
        (&item.most, above_maximum),
        (&item.ratios, beyond_ratio),
    ];
    for (bounds, rule) in rules {
        for (place, bound) in bounds {
            let (Some(resource), Some(amount)) = (resources.get(*place), amounts.get(*place)) else {
                continue;
            };
            if stored.get(*place).is_some_and(|stored| stored == amount) {
                continue;
            }
            errors.extend(rule(&AmountConstraint {
                limit_type: item.bounded.as_str(),
                resource,
                bound,
                request: amount.request.as_ref(),
                limit: amount.limit.as_ref(),
                precision,
            }));
        }
    }
}

/// Checks requests alone by the minimum and the maximum of an item, unless the same are stored already.
pub(super) fn check_requests(
    item: &TypeBounds,
    resources: &[String],
    requests: impl Fn(&str) -> Option<RoundedAmount>,
    stored: impl Fn(&str) -> Option<RoundedAmount>,
    precision: BoundPrecision,
    errors: &mut Vec<String>,
) {
    let rules: [(&AmountBounds, ConstraintRule); 2] =
        [(&item.least, below_minimum), (&item.most, request_above_maximum)];
    for (bounds, rule) in rules {
        for (place, bound) in bounds {
            let resource = resources.get(*place).map(String::as_str).unwrap_or_default();
            let request = requests(resource);
            if request.is_some() && request == stored(resource) {
                continue;
            }
            errors.extend(rule(&AmountConstraint {
                limit_type: item.bounded.as_str(),
                resource,
                bound,
                request: request.as_ref(),
                limit: None,
                precision,
            }));
        }
    }
}

/// A bound for a resource, with the amounts that are compared with it.
struct AmountConstraint<'a> {
    limit_type: &'a str,
    resource: &'a str,
    bound: &'a RoundedAmount,
    request: Option<&'a RoundedAmount>,
    limit: Option<&'a RoundedAmount>,
    precision: BoundPrecision,
}

/// Gives the message of a constraint that is violated.
type ConstraintRule = fn(&AmountConstraint<'_>) -> Option<String>;

impl AmountConstraint<'_> {
    /// The request, the limit and the bound in the same unit.
    // Upstream: plugin/pkg/admission/limitranger/admission.go, requestLimitEnforcedValues
    fn rounded(&self) -> [i64; 3] {
        let amounts = [self.request, self.limit, Some(self.bound)];
        let values = amounts.map(|amount| amount.map_or(0, |amount| amount.value));
        if values.iter().all(|value| *value <= MAX_MILLI_VALUE) {
            amounts.map(|amount| amount.map_or(0, |amount| amount.milli_value))
        } else {
            values
        }
    }

    /// How the request and the limit compare with the bound; what is missing counts as nothing.
    fn compare(&self) -> [Ordering; 2] {
        match self.precision {
            BoundPrecision::Rounded => {
                let [requested, limited, bound] = self.rounded();
                [requested.cmp(&bound), limited.cmp(&bound)]
            }
            BoundPrecision::Exact => [self.request, self.limit].map(|amount| match amount {
                Some(amount) => amount.quantity.cmp(&self.bound.quantity),
                None => 0.cmp(&self.bound.quantity.signum()),
            }),
        }
    }

    /// The beginning of messages about a minimum or maximum: `maximum cpu usage per Pod is 2`
    fn usage(&self, extreme: &str) -> String {
        let AmountConstraint {
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
fn below_minimum(constraint: &AmountConstraint<'_>) -> Option<String> {
    let [request, limit] = constraint.compare();
    let usage = || constraint.usage("minimum");
    match (constraint.request, constraint.limit) {
        (None, _) => Some(format!("{}.  No request is specified", usage())),
        (Some(requested), _) if request.is_lt() => {
            Some(format!("{}, but request is {}", usage(), requested.quantity))
        }
        (_, Some(limited)) if limit.is_lt() => {
            Some(format!("{}, but limit is {}", usage(), limited.quantity))
        }
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxConstraint
fn above_maximum(constraint: &AmountConstraint<'_>) -> Option<String> {
    let [request, limit] = constraint.compare();
    let usage = || constraint.usage("maximum");
    match (constraint.request, constraint.limit) {
        (_, None) => Some(format!("{}.  No limit is specified", usage())),
        (_, Some(limited)) if limit.is_gt() => {
            Some(format!("{}, but limit is {}", usage(), limited.quantity))
        }
        (Some(requested), _) if request.is_gt() => {
            Some(format!("{}, but request is {}", usage(), requested.quantity))
        }
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxRequestConstraint
fn request_above_maximum(constraint: &AmountConstraint<'_>) -> Option<String> {
    let [request, _] = constraint.compare();
    let usage = || constraint.usage("maximum");
    match constraint.request {
        None => Some(format!("{}.  No request is specified", usage())),
        Some(requested) if request.is_gt() => {
            Some(format!("{}, but request is {}", usage(), requested.quantity))
        }
        Some(_) => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, limitRequestRatioConstraint
fn beyond_ratio(constraint: &AmountConstraint<'_>) -> Option<String> {
    let AmountConstraint {
        limit_type,
        resource,
        bound,
        ..
    } = constraint;
    let rule = || {
        format!(
            "{resource} max limit to request ratio per {limit_type} is {}",
            bound.quantity
        )
    };
    // Rounded, numbers that are too large are zero, too.
    let [has_request, has_limit] = match constraint.precision {
        BoundPrecision::Rounded => {
            let [requested, limited, _] = constraint.rounded();
            [requested != 0, limited != 0]
        }
        BoundPrecision::Exact => [true, true],
    };
    let is_set = |amount: &&RoundedAmount| !amount.quantity.is_zero();
    let Some(request) = constraint.request.filter(|_| has_request).filter(is_set) else {
        return Some(format!("{}, but no request is specified or request is 0", rule()));
    };
    let Some(limit) = constraint.limit.filter(|_| has_limit).filter(is_set) else {
        return Some(format!("{}, but no limit is specified or limit is 0", rule()));
    };
    // As the reference computes them, in floating point.
    let (exceeds, ratio) = match constraint.precision {
        BoundPrecision::Rounded => {
            let [requested, limited, _] = constraint.rounded();
            let ratio = limited as f64 / requested as f64;
            let exceeds = if bound.value <= MAX_MILLI_VALUE {
                ratio * 1000.0 > bound.milli_value as f64
            } else {
                ratio > bound.value as f64
            };
            (exceeds, ratio)
        }
        BoundPrecision::Exact => {
            let approximate = |amount: &RoundedAmount| amount.quantity.as_approximate_float();
            (
                limit.quantity.exceeds_product(&request.quantity, &bound.quantity),
                approximate(limit) / approximate(request),
            )
        }
    };
    exceeds.then(|| format!("{}, but provided ratio is {ratio:.6}", rule()))
}
