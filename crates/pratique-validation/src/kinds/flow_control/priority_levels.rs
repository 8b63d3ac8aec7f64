//! PriorityLevelConfigurations.

use super::validate_conditions;
use crate::errors::{Errors, named};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::validate_core_meta;

const MAX_QUEUES: i64 = 10_000_000;
const MAX_HASH_BITS: f64 = 60.0;
/// An annotation that converts between versions and is never stored.
const PRESERVED_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const EXEMPT: &str = "exempt";

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidatePriorityLevelConfiguration
pub(super) fn validate_priority_level(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, spec) = (request.object.child("metadata"), request.object.child("spec"));
    validate_core_meta(&metadata, false, subdomain_name, errors);
    let annotations = metadata.child("annotations");
    if annotations.key(PRESERVED_ZERO).is_set() {
        errors.forbidden(
            annotations,
            &format!("annotation '{PRESERVED_ZERO}' is forbidden"),
        );
    }
    let name = metadata.child("name").as_text();
    validate_spec(name, &spec, errors);
    validate_mandatory(name, &spec, errors);
    validate_conditions(&request.object.child("status"), errors);
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidatePriorityLevelConfigurationSpec
fn validate_spec(name: &str, spec: &Node<'_, '_>, errors: &mut Errors) {
    let (kind, exempt, limited) = (spec.child("type"), spec.child("exempt"), spec.child("limited"));
    if (name == EXEMPT) != (kind.as_text() == "Exempt") {
        errors.invalid(
            kind,
            named(kind.as_text()),
            "must be 'Exempt' if and only if `name` is 'exempt'",
        );
    }
    match kind.as_text() {
        "Exempt" => {
            forbid(&limited, "must be nil if the type is not Limited", errors);
            if exempt.is_set() {
                validate_exempt(&exempt, errors);
            }
        }
        "Limited" => {
            forbid(&exempt, "must be nil if the type is Limited", errors);
            require(&limited, "must not be empty when type is Limited", errors);
            if limited.is_set() {
                validate_limited(&limited, errors);
            }
        }
        // Upstream: pkg/apis/flowcontrol/validation/validation.go: an absent type is missing since 1.36.
        "" if errors.release().at_least(1, 36) => require(&kind, "", errors),
        _ => errors.not_supported(&kind, &["Exempt", "Limited"]),
    }
}

/// Forbids a field that a declarative rule forbids, too.
fn forbid(field: &Node<'_, '_>, detail: &str, errors: &mut Errors) {
    if field.is_set() {
        let start = errors.len();
        errors.forbidden(field, detail);
        errors.cover_from(start, "");
    }
}

/// Requires a field that a declarative rule requires, too.
fn require(field: &Node<'_, '_>, detail: &str, errors: &mut Errors) {
    if !field.is_set() || field.value().as_str() == Some("") {
        errors.required_covered(field, detail);
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateExemptPriorityLevelConfiguration
fn validate_exempt(exempt: &Node<'_, '_>, errors: &mut Errors) {
    validate_shares(&exempt.child("nominalConcurrencyShares"), errors);
    validate_lendable(&exempt.child("lendablePercent"), errors);
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateLimitedPriorityLevelConfiguration
fn validate_limited(limited: &Node<'_, '_>, errors: &mut Errors) {
    validate_shares(&limited.child("nominalConcurrencyShares"), errors);
    validate_response(&limited.child("limitResponse"), errors);
    validate_lendable(&limited.child("lendablePercent"), errors);
    let borrowing = limited.child("borrowingLimitPercent");
    if borrowing.int() < 0 {
        errors.invalid(
            borrowing,
            borrowing.int(),
            "if specified, must be a non-negative integer",
        );
    }
}

fn validate_shares(shares: &Node<'_, '_>, errors: &mut Errors) {
    if shares.int() < 0 {
        errors.invalid(shares, shares.int(), "must be a non-negative integer");
    }
}

fn validate_lendable(percent: &Node<'_, '_>, errors: &mut Errors) {
    if !(0..=100).contains(&percent.int()) {
        errors.invalid(percent, percent.int(), "must be between 0 and 100, inclusive");
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateLimitResponse
fn validate_response(response: &Node<'_, '_>, errors: &mut Errors) {
    let (kind, queuing) = (response.child("type"), response.child("queuing"));
    match kind.as_text() {
        "Reject" => forbid(
            &queuing,
            "must be nil if limited.limitResponse.type is not Limited",
            errors,
        ),
        "Queue" => {
            require(
                &queuing,
                "must not be empty if limited.limitResponse.type is Limited",
                errors,
            );
            if queuing.is_set() {
                validate_queuing(&queuing, errors);
            }
        }
        // Upstream: pkg/apis/flowcontrol/validation/validation.go: an absent type is missing since 1.36.
        "" if errors.release().at_least(1, 36) => require(&kind, "", errors),
        _ => errors.not_supported(&kind, &["Queue", "Reject"]),
    }
}

// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidatePriorityLevelQueuingConfiguration
fn validate_queuing(queuing: &Node<'_, '_>, errors: &mut Errors) {
    let (limit, queues, hand) = (
        queuing.child("queueLengthLimit"),
        queuing.child("queues"),
        queuing.child("handSize"),
    );
    if limit.int() <= 0 {
        errors.invalid(limit, limit.int(), "must be positive");
    }
    if queues.int() <= 0 {
        errors.invalid(queues, queues.int(), "must be positive");
    } else if queues.int() > MAX_QUEUES {
        errors.invalid(
            queues,
            queues.int(),
            &format!("must not be greater than {MAX_QUEUES}"),
        );
    }
    let (deck, cards) = (queues.int(), hand.int());
    let detail = if cards <= 0 {
        "must be positive".to_owned()
    } else if cards > deck {
        format!("should not be greater than queues ({deck})")
    } else if entropy_bits(deck, cards) > MAX_HASH_BITS {
        format!(
            "required entropy bits of deckSize {deck} and handSize {cards} should not be greater than {MAX_HASH_BITS}"
        )
    } else {
        return;
    };
    errors.invalid(hand, cards, &detail);
}

// Upstream: apiserver/pkg/util/shufflesharding/shufflesharding.go, RequiredEntropyBits
fn entropy_bits(deck: i64, hand: i64) -> f64 {
    ((deck as f64).log2() * hand as f64).ceil()
}

/// The levels that every cluster has are as the server itself makes them.
// Upstream: pkg/apis/flowcontrol/validation/validation.go, ValidateIfMandatoryPriorityLevelConfigurationObject
// Upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go, MandatoryPriorityLevelConfigurations
fn validate_mandatory(name: &str, spec: &Node<'_, '_>, errors: &mut Errors) {
    let kind = spec.child("type").as_text();
    let (exempt, limited) = (spec.child("exempt"), spec.child("limited"));
    let response = limited.child("limitResponse");
    let (is_fixed, except) = match name {
        EXEMPT => (
            kind == "Exempt" && !limited.is_set(),
            "except the 'spec.exempt' field ",
        ),
        "catch-all" => (
            kind == "Limited"
                && !exempt.is_set()
                && limited.child("nominalConcurrencyShares").some_int() == Some(5)
                && limited.child("lendablePercent").some_int() == Some(0)
                && !limited.child("borrowingLimitPercent").is_set()
                && response.child("type").as_text() == "Reject"
                && !response.child("queuing").is_set(),
            "",
        ),
        _ => return,
    };
    if !is_fixed {
        let value = internal_json(
            errors.release(),
            "flowcontrol.PriorityLevelConfigurationSpec",
            spec.value(),
        );
        errors.invalid(
            spec,
            value,
            &format!("spec of '{name}' {except}must equal the fixed value"),
        );
    }
}
