//! Requests and limits of containers and Pods.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use pratique_gotext::quantity::Quantity;
use pratique_gotext::validation::{dns1123_label, qualified_name};
use pratique_types::field::{BadValue, Error, ErrorKind};

use super::options::PodOptions;
use crate::errors::{Errors, named};
use crate::node::Node;
use crate::quantities::{
    compare_whole_amounts, is_compute_resource, is_extended_resource, is_huge_pages, is_native_resource,
    is_quota_resource, quantity, validate_resource_quantity,
};
use crate::seen_texts::SeenTexts;

/// Validates the name of a resource.
type ResourceName = fn(&str, &Node<'_, '_>, &mut Errors);

// Upstream: pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements
pub(crate) fn validate_container_resources(
    requirements: &Node<'_, '_>,
    claims: Option<&SeenTexts<'_>>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let limits = requirements.child("limits");
    validate_requirements(
        requirements,
        &limits,
        validate_container_resource_name,
        claims,
        options,
        errors,
    );
}

/// The overhead of a Pod, which is validated as limits are.
// Upstream: pkg/apis/core/validation/validation.go, validateOverhead
pub(crate) fn validate_overhead(overhead: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let absent = Node::absent(*overhead.path());
    let path = overhead.path().child("limits");
    let limits = Node::with_path(overhead.value(), path);
    validate_requirements(
        &absent,
        &limits,
        validate_container_resource_name,
        None,
        options,
        errors,
    );
}

// Upstream: pkg/apis/core/validation/validation.go, validateResourceRequirements
fn validate_requirements(
    requirements: &Node<'_, '_>,
    limits: &Node<'_, '_>,
    validate_name: ResourceName,
    claims: Option<&SeenTexts<'_>>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let requests = requirements.child("requests");
    for (name, limit) in limits.entries() {
        validate_name(name, &limit, errors);
        validate_resource_quantity(name, &limit, errors);
        validate_huge_pages(name, &limit, options, errors);
    }
    for (name, request) in requests.entries() {
        validate_name(name, &request, errors);
        validate_resource_quantity(name, &request, errors);
        validate_request_within_limit(name, &request, &requests, limits, errors);
        validate_huge_pages(name, &request, options, errors);
    }
    let has = |is_so: &dyn Fn(&str) -> bool| {
        let mut names = limits.entries().chain(requests.entries()).map(|(name, _)| name);
        names.any(is_so)
    };
    if !has(&|name| name == "cpu" || name == "memory") && has(&is_huge_pages) {
        errors.forbidden(requirements, "HugePages require cpu or memory");
    }
    validate_claim_names(&requirements.child("claims"), claims, errors);
}

fn validate_request_within_limit(
    name: &str,
    request: &Node<'_, '_>,
    requests: &Node<'_, '_>,
    limits: &Node<'_, '_>,
    errors: &mut Errors,
) {
    let allows_overcommit = is_native_resource(name) && !is_huge_pages(name);
    let limit = limits.key(name);
    if !limit.is_set() {
        if !allows_overcommit {
            errors.required(limits, "Limit must be set for non overcommitable resources");
        }
        return;
    }
    // The same text is the same amount, as of most that have both.
    if request.as_text() == limit.as_text() {
        return;
    }
    let order = compare_whole_amounts(request.as_text(), limit.as_text())
        .unwrap_or_else(|| quantity(request).cmp(&quantity(&limit)));
    if order.is_ne() && !allows_overcommit {
        let detail = format!("must be equal to {name} limit of {}", limit.as_text());
        errors.invalid(requests, request.as_text(), &detail);
    } else if order.is_gt() {
        let detail = format!(
            "must be less than or equal to {name} limit of {}",
            limit.as_text()
        );
        errors.invalid(requests, request.as_text(), &detail);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateResourceQuantityHugePageValue
fn validate_huge_pages(name: &str, value: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    if is_huge_pages(name) && !options.indivisible_huge_pages && !is_divisible(name, value) {
        let detail = format!("{} is not positive integer multiple of {name}", value.as_text());
        errors.invalid(value, value.as_text(), &detail);
    }
}

// Upstream: pkg/apis/core/helper/helpers.go, IsHugePageResourceValueDivisible
pub(super) fn is_divisible(name: &str, value: &Node<'_, '_>) -> bool {
    let Ok(page) = Quantity::parse(name.trim_start_matches("hugepages-")) else {
        return false;
    };
    if page.signum() <= 0 || page.milli_value() % 1000 != 0 {
        return false;
    }
    quantity(value).value().checked_rem(page.value()) == Some(0)
}

// Upstream: pkg/apis/core/validation/validation.go, validateResourceName
pub(crate) fn validate_resource_name(name: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    let messages = qualified_name(name);
    for message in &messages {
        errors.invalid(field, named(name), message);
    }
    if messages.is_empty() && !name.contains('/') && !is_standard_resource(name) {
        errors.invalid(
            field,
            named(name),
            "must be a standard resource type or fully qualified",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateContainerResourceName
pub(crate) fn validate_container_resource_name(name: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    // Of these, all that is asked below is so.
    if is_compute_resource(name) {
        return;
    }
    validate_resource_name(name, field, errors);
    if !name.contains('/') {
        if !is_huge_pages(name) {
            errors.invalid(field, named(name), "must be a standard resource for containers");
        }
    } else if !is_native_resource(name) && !is_extended_resource(name) {
        errors.invalid(
            field,
            named(name),
            "doesn't follow extended resource name standard",
        );
    }
}

// Upstream: pkg/apis/core/helper/helpers.go, IsStandardResourceName
fn is_standard_resource(name: &str) -> bool {
    // Of the standard resources, this one alone has no quota by its own name.
    name == "storage" || is_quota_resource(name)
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodResourceName
fn validate_pod_resource_name(name: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    let count = errors.len();
    validate_resource_name(name, field, errors);
    if errors.len() == count && !["cpu", "memory"].contains(&name) && !is_huge_pages(name) {
        errors.push(Error::not_supported(
            field,
            named(name),
            ["cpu", "hugepages-", "memory"],
        ));
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateResourceClaimNames
fn validate_claim_names(claims: &Node<'_, '_>, known: Option<&SeenTexts<'_>>, errors: &mut Errors) {
    // A name with a slash is one with a request to the server, too.
    let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
    // How many requests of a claim were named.
    let mut requests: HashMap<&str, usize> = HashMap::new();
    let names = LazyCell::new(|| known.map(SeenTexts::sorted).unwrap_or_default().join(", "));
    for claim in claims.items() {
        let (name, request) = (claim.child("name").as_text(), claim.child("request"));
        if name.is_empty() {
            errors.required(claim, "");
            continue;
        }
        if seen.contains(name) {
            errors.duplicate(claim, name);
        } else {
            let text = request.as_text();
            let mut key = Cow::Borrowed(name);
            if !text.is_empty() {
                errors.invalid_each(&request, &dns1123_label(text));
                key = Cow::Owned(format!("{name}/{text}"));
            }
            if seen.contains(&key) {
                errors.duplicate(claim, key.as_ref());
            } else {
                let named = requests.get(name).copied().filter(|_| text.is_empty());
                for _ in 0..named.unwrap_or_default() {
                    errors.duplicate(claim, name);
                }
                let of_claim = name.split_once('/').map(|(of, _)| of);
                if let Some(of) = of_claim.or((!text.is_empty()).then_some(name)) {
                    *requests.entry(of).or_default() += 1;
                }
                seen.insert(key);
            }
        }
        if known.is_none_or(|known| !known.contains(name)) {
            errors.push_with(|| {
                let detail = if names.is_empty() {
                    "must be one of the names in pod.spec.resourceClaims which is empty".to_owned()
                } else {
                    format!("must be one of the names in pod.spec.resourceClaims: {}", *names)
                };
                let value = BadValue::Text(name.into());
                Error::new(ErrorKind::NotFound, claim, &value, &detail)
            });
        }
    }
}

/// The resources of the Pod itself.
// Upstream: pkg/apis/core/validation/validation.go, validatePodResources
pub(super) fn validate_pod_resources(
    spec: &Node<'_, '_>,
    claims: &SeenTexts<'_>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let resources = spec.child("resources");
    if !resources.is_set() {
        return;
    }
    if spec.child("os").child("name").as_text() == "windows" {
        errors.forbidden(resources, "may not be set for a windows pod");
        return;
    }
    if resources.child("claims").is_set() {
        errors.forbidden(
            resources.child("claims"),
            "claims may not be set for Resources at pod-level",
        );
    }
    let limits = resources.child("limits");
    validate_requirements(
        &resources,
        &limits,
        validate_pod_resource_name,
        Some(claims),
        options,
        errors,
    );
    validate_consistency(spec, &resources, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodResourceConsistency
fn validate_consistency(spec: &Node<'_, '_>, resources: &Node<'_, '_>, errors: &mut Errors) {
    let (requests, limits) = (resources.child("requests"), resources.child("limits"));
    for (name, request) in requests.entries() {
        let Some(sum) = aggregate(spec, "requests", name) else {
            continue;
        };
        if sum > quantity(&request) {
            let detail = format!("must be greater than or equal to aggregate container requests of {sum}");
            errors.invalid(request, request.as_text(), &detail);
        }
    }
    for (name, limit) in limits.entries().filter(|(name, _)| is_huge_pages(name)) {
        let Some(sum) = aggregate(spec, "limits", name) else {
            continue;
        };
        if sum > quantity(&limit) {
            let detail = format!("must be greater than or equal to aggregate container limits of {sum}");
            errors.invalid(limit, limit.as_text(), &detail);
        }
    }
    let containers_path = resources.path().child("containers");
    for (index, container) in spec.child("containers").items().enumerate() {
        let of_container = container.child("resources");
        for (name, limit) in of_container.child("limits").entries() {
            let of_pod = limits.key(name);
            if of_pod.is_set() && quantity(&limit) > quantity(&of_pod) {
                let detail = format!("must be less than or equal to pod limits of {}", of_pod.as_text());
                let path = containers_path.index(index);
                errors.invalid(path.key(name).child("limits"), limit.as_text(), &detail);
            }
        }
    }
}

/// What all containers need together of a resource: the running ones, or an init container while it runs.
// Upstream: component-helpers/resource/helpers.go, AggregateContainerRequests
fn aggregate(spec: &Node<'_, '_>, list: &str, name: &str) -> Option<Quantity> {
    let of = |container: &Node<'_, '_>| {
        let resources = container.child("resources");
        let list = resources.child(list);
        let value = list.key(name);
        value.is_set().then(|| quantity(&value))
    };
    let add = |sum: Option<Quantity>, value: Option<Quantity>| match (sum, value) {
        (Some(sum), Some(value)) => Some(sum.add(&value).unwrap_or(sum)),
        (sum, value) => sum.or(value),
    };
    let mut running = None;
    for container in spec.child("containers").items() {
        running = add(running, of(&container));
    }
    let (mut sidecars, mut highest) = (None, None);
    for container in spec.child("initContainers").items() {
        let needed = of(&container);
        let at_once = if container.child("restartPolicy").as_text() == "Always" {
            running = add(running, needed.clone());
            sidecars = add(sidecars, needed);
            sidecars.clone()
        } else {
            needed.and_then(|needed| add(Some(needed), sidecars.clone()))
        };
        highest = highest.max(at_once);
    }
    running.max(highest)
}
