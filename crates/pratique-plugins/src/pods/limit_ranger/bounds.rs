//! The bounds of resources.

use pratique_gotext::quantity::MAX_MILLI_VALUE;

use super::limits::{Bounds, Item};
use super::requested_amount::{Amount, RequestedAmount};

/// Checks what is asked for by the minimum, the maximum and the ratio of an item of a limit range. Both have resources by
/// their places.
pub(super) fn check(item: &Item, resources: &[String], asked: &[RequestedAmount], errors: &mut Vec<String>) {
    let rules: [(&Bounds, Rule); 3] = [
        (&item.least, below_minimum),
        (&item.most, above_maximum),
        (&item.ratios, beyond_ratio),
    ];
    let of = item.bounded.as_str();
    for (bounds, rule) in rules {
        for (place, bound) in bounds {
            if let (Some(name), Some(asked)) = (resources.get(*place), asked.get(*place)) {
                let (request, limit) = (asked.request.as_ref(), asked.limit.as_ref());
                errors.extend(rule(of, name, bound, request, limit));
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
    let of = item.bounded.as_str();
    let named = |place: &usize| resources.get(*place).map(String::as_str).unwrap_or_default();
    for (place, bound) in &item.least {
        let name = named(place);
        errors.extend(below_minimum(of, name, bound, requests(name).as_ref(), None));
    }
    for (place, bound) in &item.most {
        let name = named(place);
        errors.extend(request_above_maximum(of, name, bound, requests(name).as_ref()));
    }
}

/// A rule for a type and a resource: the bound, what is requested, and what is the limit.
type Rule = fn(&str, &str, &Amount, Option<&Amount>, Option<&Amount>) -> Option<String>;

/// A request, a limit and a bound in the same unit.
// Upstream: plugin/pkg/admission/limitranger/admission.go, requestLimitEnforcedValues
fn comparable(request: Option<&Amount>, limit: Option<&Amount>, bound: &Amount) -> [i64; 3] {
    let amounts = [request, limit, Some(bound)];
    let values = amounts.map(|amount| amount.map_or(0, |amount| amount.value));
    match values.iter().all(|value| *value <= MAX_MILLI_VALUE) {
        true => amounts.map(|amount| amount.map_or(0, |amount| amount.milli_value)),
        false => values,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, minConstraint
fn below_minimum(
    of: &str,
    name: &str,
    bound: &Amount,
    request: Option<&Amount>,
    limit: Option<&Amount>,
) -> Option<String> {
    let [requested, limited, least] = comparable(request, limit, bound);
    let rule = || format!("minimum {name} usage per {of} is {}", bound.quantity);
    match (request, limit) {
        (None, _) => Some(format!("{}.  No request is specified", rule())),
        (Some(request), _) if requested < least => {
            Some(format!("{}, but request is {}", rule(), request.quantity))
        }
        (_, Some(limit)) if limited < least => Some(format!("{}, but limit is {}", rule(), limit.quantity)),
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxConstraint
fn above_maximum(
    of: &str,
    name: &str,
    bound: &Amount,
    request: Option<&Amount>,
    limit: Option<&Amount>,
) -> Option<String> {
    let [requested, limited, most] = comparable(request, limit, bound);
    let rule = || format!("maximum {name} usage per {of} is {}", bound.quantity);
    match (request, limit) {
        (_, None) => Some(format!("{}.  No limit is specified", rule())),
        (_, Some(limit)) if limited > most => Some(format!("{}, but limit is {}", rule(), limit.quantity)),
        (Some(request), _) if requested > most => {
            Some(format!("{}, but request is {}", rule(), request.quantity))
        }
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxRequestConstraint
fn request_above_maximum(of: &str, name: &str, bound: &Amount, request: Option<&Amount>) -> Option<String> {
    let [requested, _, most] = comparable(request, None, bound);
    match request {
        None => Some(format!(
            "maximum {name} usage per {of} is {}.  No request is specified",
            bound.quantity
        )),
        Some(request) if requested > most => Some(format!(
            "maximum {name} usage per {of} is {}, but request is {}",
            bound.quantity, request.quantity
        )),
        Some(_) => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, limitRequestRatioConstraint
fn beyond_ratio(
    of: &str,
    name: &str,
    bound: &Amount,
    request: Option<&Amount>,
    limit: Option<&Amount>,
) -> Option<String> {
    let [requested, limited, _] = comparable(request, limit, bound);
    let rule = || format!("{name} max limit to request ratio per {of} is {}", bound.quantity);
    if request.is_none() || requested == 0 {
        return Some(format!("{}, but no request is specified or request is 0", rule()));
    }
    if limit.is_none() || limited == 0 {
        return Some(format!("{}, but no limit is specified or limit is 0", rule()));
    }
    // As the reference computes them, in floating point.
    let ratio = limited as f64 / requested as f64;
    let exceeds = match bound.value <= MAX_MILLI_VALUE {
        true => ratio * 1000.0 > bound.milli_value as f64,
        false => ratio > bound.value as f64,
    };
    exceeds.then(|| format!("{}, but provided ratio is {ratio:.6}", rule()))
}
