//! How Pods are spread, and the labels by which they find one another.

use std::collections::{HashMap, HashSet};

use crate::errors::Errors;
use crate::node::Node;
use crate::seen_texts::SeenTexts;
use crate::selector::{validate_label_name, validate_selector};

use super::options::PodOptions;

// Upstream: pkg/apis/core/validation/validation.go, validateTopologySpreadConstraints
pub(super) fn validate_topology_spread(constraints: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    const ACTIONS: &[&str] = &["DoNotSchedule", "ScheduleAnyway"];
    let places = LastPlaces::new(constraints);
    for (at, constraint) in constraints.items().enumerate() {
        errors.positive(&constraint.child("maxSkew"));
        let (key, action) = (
            constraint.child("topologyKey"),
            constraint.child("whenUnsatisfiable"),
        );
        if key.as_text().is_empty() {
            errors.required(key, "can not be empty");
        }
        if !ACTIONS.contains(&action.as_text()) {
            errors.not_supported(&action, ACTIONS);
        }
        if places.is_repeated(at, (key.as_text(), action.as_text())) {
            let pair = format!("{{{}, {}}}", key.as_text(), action.as_text());
            errors.duplicate(constraint.child("{topologyKey, whenUnsatisfiable}"), pair);
        }
        let domains = constraint.child("minDomains");
        if domains.is_set() {
            errors.positive(&domains);
            if action.as_text() != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    action.as_text()
                );
                errors.invalid(domains, domains.int(), &detail);
            }
        }
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policy = constraint.child(name);
            if policy.is_set() && !["Honor", "Ignore"].contains(&policy.as_text()) {
                errors.not_supported(&policy, &["Honor", "Ignore"]);
            }
        }
        if options.violates_match_label_keys {
            validate_legacy_label_keys(&constraint, errors);
        } else {
            validate_label_keys(&constraint, &Node::absent(*constraint.path()), errors);
        }
        if !options.invalid_topology_selector {
            validate_selector(&constraint.child("labelSelector"), false, errors);
        }
    }
}

/// Where keys with an action stand last in a list; that of one constraint is not kept.
struct LastPlaces<'v>(HashMap<(&'v str, &'v str), usize>);

impl<'v> LastPlaces<'v> {
    fn new(constraints: &Node<'_, 'v>) -> Self {
        if constraints.len() < 2 {
            return LastPlaces(HashMap::new());
        }
        let pairs = constraints.items().map(|constraint| {
            let (key, action) = (
                constraint.child("topologyKey"),
                constraint.child("whenUnsatisfiable"),
            );
            (key.as_text(), action.as_text())
        });
        LastPlaces(pairs.enumerate().map(|(at, pair)| (pair, at)).collect())
    }

    fn is_repeated(&self, at: usize, pair: (&str, &str)) -> bool {
        self.0.get(&pair).is_some_and(|last| *last > at)
    }
}

// Upstream: pkg/api/pod/util.go, hasInvalidTopologySpreadConstrainMatchLabelKeys
pub(super) fn violates_match_label_keys(spec: &Node<'_, '_>) -> bool {
    let mut errors = Errors::default();
    for constraint in spec.child("topologySpreadConstraints").items() {
        validate_label_keys(&constraint, &Node::absent(*constraint.path()), &mut errors);
    }
    !errors.is_empty()
}

/// The labels whose values of the Pod itself are added to a selector.
// Upstream: pkg/apis/core/validation/validation.go, ValidateMatchLabelKeysAndMismatchLabelKeys
pub(super) fn validate_label_keys(term: &Node<'_, '_>, mismatch: &Node<'_, '_>, errors: &mut Errors) {
    let (matching, selector) = (term.child("matchLabelKeys"), term.child("labelSelector"));
    for keys in [&matching, mismatch] {
        if !keys.is_empty() && !selector.is_set() {
            errors.forbidden(keys, "must not be specified when labelSelector is not set");
        } else {
            keys.items().for_each(|key| validate_label_name(&key, errors));
        }
    }
    if matching.is_empty() {
        return;
    }
    // The last of equal keys counts.
    let places: HashMap<&str, usize> = matching
        .items()
        .enumerate()
        .map(|(at, key)| (key.as_text(), at))
        .collect();
    let mut earlier = SeenTexts::default();
    for expression in selector.child("matchExpressions").items() {
        let key = expression.child("key").as_text();
        let is_earlier = !earlier.insert(key);
        let Some(index) = places.get(key) else {
            continue;
        };
        if is_earlier || selector.child("matchLabels").key(key).is_set() {
            errors.invalid(
                term.path().index(*index),
                key,
                "exists in both matchLabelKeys and labelSelector",
            );
        }
    }
    let mismatched: HashSet<&str> = mismatch.items().map(|key| key.as_text()).collect();
    for key in matching.items() {
        if mismatched.contains(key.as_text()) {
            errors.invalid_or_empty(&key, "exists in both matchLabelKeys and mismatchLabelKeys");
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateMatchLabelKeysInTopologySpread
fn validate_legacy_label_keys(constraint: &Node<'_, '_>, errors: &mut Errors) {
    let (keys, selector) = (
        constraint.child("matchLabelKeys"),
        constraint.child("labelSelector"),
    );
    if keys.is_empty() {
        return;
    }
    if !selector.is_set() {
        errors.forbidden(keys, "must not be specified when labelSelector is not set");
    }
    let expressions = selector.child("matchExpressions");
    let selected: HashSet<&str> = expressions
        .items()
        .map(|other| other.child("key").as_text())
        .collect();
    for key in keys.items() {
        validate_label_name(&key, errors);
        let has =
            selector.child("matchLabels").key(key.as_text()).is_set() || selected.contains(key.as_text());
        if has {
            errors.invalid_or_empty(&key, "exists in both matchLabelKeys and labelSelector");
        }
    }
}
