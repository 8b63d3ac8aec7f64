//! LimitRanges.

use std::collections::BTreeSet;

use pratique_gotext::quantity::Quantity;
use pratique_gotext::validation::qualified_name;
use pratique_types::field::BadValue;

use crate::errors::{Errors, named};
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::validate_core_meta;
use crate::pod::{validate_container_resource_name, validate_resource_name};
use crate::quantities::{is_huge_pages, is_native_resource, quantity};
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/core/validation/validation.go, ValidateLimitRange
pub(super) fn validate_limit_range(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    let spec = request.object.child("spec");
    let mut kinds = SeenTexts::default();
    for limit in spec.child("limits").items() {
        let kind = limit.child("type");
        validate_type(&kind, errors);
        if !kinds.insert(kind.as_text()) {
            errors.duplicate(kind, named(kind.as_text()));
        }
        validate_limit(&limit, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateLimitRangeTypeName
fn validate_type(kind: &Node<'_, '_>, errors: &mut Errors) {
    let messages = qualified_name(kind.as_text());
    for message in &messages {
        errors.invalid_name(kind, message);
    }
    let is_standard = ["Pod", "Container", "PersistentVolumeClaim"].contains(&kind.as_text());
    if messages.is_empty() && !kind.as_text().contains('/') && !is_standard {
        errors.invalid_name(kind, "must be a standard limit type or fully qualified");
    }
}

fn validate_limit(limit: &Node<'_, '_>, errors: &mut Errors) {
    let kind = limit.child("type").as_text();
    let mut names = BTreeSet::new();
    let mut lists = vec!["max", "min"];
    if kind != "Pod" {
        lists.extend(["default", "defaultRequest"]);
    }
    for list in lists {
        validate_names(limit, list, &mut names, errors);
    }
    if kind == "Pod" {
        for list in ["default", "defaultRequest"] {
            if !limit.child(list).is_empty() {
                errors.forbidden(limit.child(list), "may not be specified when `type` is 'Pod'");
            }
        }
    }
    let has_storage = |list: &str| limit.child(list).key("storage").is_set();
    if kind == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        errors.required(
            limit.child("limits"),
            "either minimum or maximum storage value is required, but neither was provided",
        );
    }
    validate_names(limit, "maxLimitRequestRatio", &mut names, errors);
    for name in names {
        validate_values(limit, name, kind == "Pod", errors);
    }
}

fn validate_names<'v>(limit: &Node<'_, 'v>, list: &str, names: &mut BTreeSet<&'v str>, errors: &mut Errors) {
    let is_of_containers = ["Pod", "Container"].contains(&limit.child("type").as_text());
    for (name, value) in limit.child(list).entries() {
        if is_of_containers {
            validate_container_resource_name(name, &value, errors);
        } else {
            validate_resource_name(name, &value, errors);
        }
        names.insert(name);
    }
}

/// The limits for one resource, compared with one another.
fn validate_values(limit: &Node<'_, '_>, name: &str, is_of_pods: bool, errors: &mut Errors) {
    let (min_list, max_list) = (limit.child("min"), limit.child("max"));
    let (default_list, request_list) = (limit.child("default"), limit.child("defaultRequest"));
    let ratio_list = limit.child("maxLimitRequestRatio");
    let (min, max) = (min_list.key(name), max_list.key(name));
    let (default, request) = (default_list.key(name), request_list.key(name));
    let ratio = ratio_list.key(name);
    let is_greater = |one: &Node<'_, '_>, other: &Node<'_, '_>| {
        one.is_set() && other.is_set() && quantity(one) > quantity(other)
    };
    let (min_words, max_words) = (("min value", &min), ("max value", &max));
    let default_words = ("default value", &default);
    let request_words = ("default request value", &request);
    let limit_words = ("default limit value", &default);
    let mut comparisons = vec![(min_words, max_words, &min, &min)];
    if !is_of_pods {
        comparisons.extend([
            (min_words, request_words, &request, &request),
            (request_words, max_words, &request, &request),
            (request_words, limit_words, &request, &request),
            (min_words, default_words, &default, &min),
            (default_words, max_words, &default, &max),
        ]);
    }
    for ((what, one), (other_what, other), field, amount) in comparisons {
        if is_greater(one, other) {
            let detail = format!(
                "{what} {} is greater than {other_what} {}",
                one.as_text(),
                other.as_text()
            );
            errors.invalid(field, printed(amount), &detail);
        }
    }
    validate_ratio(&ratio, &min, &max, errors);
    let allows_overcommit = is_native_resource(name) && !is_huge_pages(name);
    let differ = default.is_set() && request.is_set() && quantity(&default) != quantity(&request);
    if !is_of_pods && !allows_overcommit && differ {
        let detail = format!(
            "default value {} must equal to defaultRequest value {} in {name}",
            default.as_text(),
            request.as_text()
        );
        errors.invalid(request, printed(&request), &detail);
    }
}

fn validate_ratio(ratio: &Node<'_, '_>, min: &Node<'_, '_>, max: &Node<'_, '_>, errors: &mut Errors) {
    use pratique_gotext::quantity::MAX_MILLI_VALUE;
    if !ratio.is_set() {
        return;
    }
    let value = quantity(ratio);
    if value < Quantity::from_integer(1) {
        let detail = format!("ratio {} is less than 1", ratio.as_text());
        errors.invalid(ratio, printed(ratio), &detail);
    }
    if !min.is_set() || !max.is_set() {
        return;
    }
    let (low, high) = (quantity(min), quantity(max));
    let are_small = [&value, &low, &high]
        .iter()
        .all(|quantity| quantity.value() < MAX_MILLI_VALUE);
    let (given, low, high) = if are_small {
        (
            value.milli_value() as f64 / 1000.0,
            low.milli_value() as f64,
            high.milli_value() as f64,
        )
    } else {
        (value.value() as f64, low.value() as f64, high.value() as f64)
    };
    let allowed = high / low;
    if given > allowed {
        let detail = format!("ratio {} is greater than max/min = {allowed:.6}", ratio.as_text());
        errors.invalid(ratio, printed(ratio), &detail);
    }
}

/// A quantity as errors print it: as JSON.
fn printed<'a>(value: &Node<'_, 'a>) -> BadValue<'a> {
    named(value.as_text())
}
