//! Errors of rules by hand that declarative rules replace.
//!
//! A rule by hand that has a declarative twin says so, see [`Errors::cover_from`]. Its error goes only where the twin found the
//! same: it does not validate what did not change, for example.

use std::borrow::Cow;
use std::collections::HashSet;

use pratique_schema::Release;
use pratique_types::field::{Error, ErrorKind};

use super::DeclarativeError;
use crate::errors::Errors;

/// An error of a rule by hand that has a declarative twin.
#[derive(Debug)]
pub(crate) struct CoveredError {
    /// The error.
    pub(crate) error: Error,
    /// What kind of rule found it.
    pub(crate) origin: &'static str,
}

/// Removes the errors of rules by hand whose twins found the same.
// Upstream: apimachinery/pkg/api/validate/errors.go, FilterCoveredHandwrittenErrors
pub(super) fn remove_covered(errors: &mut Errors, declarative_errors: &[DeclarativeError]) {
    let mut twins = HashSet::new();
    for declarative in declarative_errors.iter().filter(|error| error.is_beta) {
        let (kind, field) = (declarative.error.kind, declarative.error.field.as_str());
        twins.insert((kind, declarative.origin, Cow::Borrowed(field)));
        twins.insert((kind, declarative.origin, normalize(field, errors.release())));
    }
    errors.remove_covered(|covered| has_twin(covered, &twins));
}

// Upstream: apimachinery/pkg/util/validation/field/error_matcher.go, Matches
fn has_twin(covered: &CoveredError, twins: &HashSet<(ErrorKind, &str, Cow<'_, str>)>) -> bool {
    let hand = &covered.error;
    let has_origin = !covered.origin.is_empty() || hand.kind != ErrorKind::Invalid;
    has_origin && twins.contains(&(hand.kind, covered.origin, Cow::Borrowed(&hand.field)))
}

/// The path of a field in the newest version of its kind.
// Upstream: pkg/apis/resource/validation/validation.go, ResourceNormalizationRules
fn normalize<'p>(path: &'p str, release: &Release) -> Cow<'p, str> {
    const FLAT: &[&str] = &[
        "deviceClassName",
        "selectors",
        "allocationMode",
        "count",
        "adminAccess",
        "tolerations",
        "derivedAttributes",
    ];
    if let Some((start, rest)) = split_after_element(path, "spec.devices.requests[")
        && (FLAT.iter().any(|name| rest.starts_with(name))
            // Since 1.38.
            || (rest.starts_with("capacity") && release.at_least(1, 38)))
    {
        return format!("{start}exactly.{rest}").into();
    }
    if let Some((start, rest)) = split_after_element(path, "spec.devices[")
        && let Some(rest) = rest.strip_prefix("basic.")
    {
        return format!("{start}{rest}").into();
    }
    path.into()
}

/// A path behind the first element of a list: `….list[0].` and the rest.
fn split_after_element<'p>(path: &'p str, list: &str) -> Option<(&'p str, &'p str)> {
    let start = path.find(list)? + list.len();
    let end = start + path.get(start..)?.find("].")? + "].".len();
    path.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_older_versions_are_those_of_the_newest() {
        for (path, expected) in [
            (
                "spec.spec.devices.requests[1].selectors",
                "spec.spec.devices.requests[1].exactly.selectors",
            ),
            (
                "spec.devices.requests[0].exactly.count",
                "spec.devices.requests[0].exactly.count",
            ),
            (
                "spec.devices[3].basic.attributes[a]",
                "spec.devices[3].attributes[a]",
            ),
            ("spec.driver", "spec.driver"),
        ] {
            assert_eq!(normalize(path, Release::latest()), expected);
        }
    }
}
