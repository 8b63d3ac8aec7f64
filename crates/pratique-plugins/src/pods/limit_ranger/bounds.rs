//! The bounds of resources.

use pratique_gotext::quantity::{MAX_MILLI_VALUE, Quantity};

use smallvec::SmallVec;

use super::limits::{Bounds, Item};

/// Checks what is asked for by the minimum, the maximum and the ratio of an item of a limit range. `requests` and `limits`
/// give the amount of a resource.
pub(super) fn check(
    item: &Item,
    requests: impl Fn(&str) -> Option<Quantity>,
    limits: impl Fn(&str) -> Option<Quantity>,
    errors: &mut Vec<String>,
) {
    let rules: [(&Bounds, Rule); 3] = [
        (&item.least, below_minimum),
        (&item.most, above_maximum),
        (&item.ratios, beyond_ratio),
    ];
    let of = item.bounded.as_str();
    let asked = item.resources.iter();
    let asked: Asked<'_> = asked
        .map(|name| (name.as_str(), requests(name), limits(name)))
        .collect();
    for (bounds, rule) in rules {
        for (place, bound) in bounds {
            if let Some((name, request, limit)) = asked.get(*place) {
                errors.extend(rule(of, name, bound, request.as_ref(), limit.as_ref()));
            }
        }
    }
}

/// Resources, and how much is requested of them and is their limit.
type Asked<'i> = SmallVec<[(&'i str, Option<Quantity>, Option<Quantity>); 2]>;

/// Checks requests alone by the minimum and the maximum of an item.
pub(super) fn check_requests(
    item: &Item,
    requests: impl Fn(&str) -> Option<Quantity>,
    errors: &mut Vec<String>,
) {
    let of = item.bounded.as_str();
    let named = |place: &usize| item.resources.get(*place).map(String::as_str).unwrap_or_default();
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
type Rule = fn(&str, &str, &Quantity, Option<&Quantity>, Option<&Quantity>) -> Option<String>;

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
