//! The bounds of resources.

use pratique_gotext::quantity::{MAX_MILLI_VALUE, Quantity};
use pratique_json::Value;

use crate::pods::resources::ResourceList;

/// Checks what is asked for by the minimum, the maximum and the ratio of an item of a limit range.
pub(super) fn check(
    item: &Value<'_>,
    of: &str,
    requests: &ResourceList<'_>,
    limits: &ResourceList<'_>,
    errors: &mut Vec<String>,
) {
    for (name, bound) in ResourceList::at(item, &["min"]).iter() {
        errors.extend(below_minimum(
            of,
            name,
            bound,
            requests.get(name),
            limits.get(name),
        ));
    }
    for (name, bound) in ResourceList::at(item, &["max"]).iter() {
        errors.extend(above_maximum(
            of,
            name,
            bound,
            requests.get(name),
            limits.get(name),
        ));
    }
    for (name, bound) in ResourceList::at(item, &["maxLimitRequestRatio"]).iter() {
        errors.extend(beyond_ratio(
            of,
            name,
            bound,
            requests.get(name),
            limits.get(name),
        ));
    }
}

/// Checks requests alone by the minimum and the maximum of an item.
pub(super) fn check_requests(
    item: &Value<'_>,
    of: &str,
    requests: &ResourceList<'_>,
    errors: &mut Vec<String>,
) {
    for (name, bound) in ResourceList::at(item, &["min"]).iter() {
        errors.extend(below_minimum(of, name, bound, requests.get(name), None));
    }
    for (name, bound) in ResourceList::at(item, &["max"]).iter() {
        errors.extend(request_above_maximum(of, name, bound, requests.get(name)));
    }
}

/// A request, a limit and a bound in the same unit.
// Upstream: plugin/pkg/admission/limitranger/admission.go, requestLimitEnforcedValues
fn comparable(request: Option<&Quantity>, limit: Option<&Quantity>, bound: &Quantity) -> [i64; 3] {
    let quantities = [request, limit, Some(bound)];
    let values = quantities.map(|quantity| quantity.map_or(0, Quantity::value));
    match values.iter().all(|value| *value <= MAX_MILLI_VALUE) {
        true => quantities.map(|quantity| quantity.map_or(0, Quantity::milli_value)),
        false => values,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, minConstraint
fn below_minimum(
    of: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let [requested, limited, least] = comparable(request, limit, bound);
    let rule = || format!("minimum {name} usage per {of} is {bound}");
    match (request, limit) {
        (None, _) => Some(format!("{}.  No request is specified", rule())),
        (Some(request), _) if requested < least => Some(format!("{}, but request is {request}", rule())),
        (_, Some(limit)) if limited < least => Some(format!("{}, but limit is {limit}", rule())),
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxConstraint
fn above_maximum(
    of: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let [requested, limited, most] = comparable(request, limit, bound);
    let rule = || format!("maximum {name} usage per {of} is {bound}");
    match (request, limit) {
        (_, None) => Some(format!("{}.  No limit is specified", rule())),
        (_, Some(limit)) if limited > most => Some(format!("{}, but limit is {limit}", rule())),
        (Some(request), _) if requested > most => Some(format!("{}, but request is {request}", rule())),
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxRequestConstraint
fn request_above_maximum(
    of: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
) -> Option<String> {
    let [requested, _, most] = comparable(request, None, bound);
    match request {
        None => Some(format!(
            "maximum {name} usage per {of} is {bound}.  No request is specified"
        )),
        Some(request) if requested > most => Some(format!(
            "maximum {name} usage per {of} is {bound}, but request is {request}"
        )),
        Some(_) => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, limitRequestRatioConstraint
fn beyond_ratio(
    of: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let [requested, limited, _] = comparable(request, limit, bound);
    let rule = || format!("{name} max limit to request ratio per {of} is {bound}");
    if request.is_none() || requested == 0 {
        return Some(format!("{}, but no request is specified or request is 0", rule()));
    }
    if limit.is_none() || limited == 0 {
        return Some(format!("{}, but no limit is specified or limit is 0", rule()));
    }
    // As the reference computes them, in floating point.
    let ratio = limited as f64 / requested as f64;
    let exceeds = match bound.value() <= MAX_MILLI_VALUE {
        true => ratio * 1000.0 > bound.milli_value() as f64,
        false => ratio > bound.value() as f64,
    };
    exceeds.then(|| format!("{}, but provided ratio is {ratio:.6}", rule()))
}
