//! Words about policies that no binding names.

use pratique_suite::Unbound;

/// What is said of one.
pub(crate) fn message(policy: &Unbound) -> String {
    format!("{} {} is not evaluated: no binding", policy.kind(), policy.name)
}

/// How many there are; none if there are none.
pub(crate) fn count(count: usize) -> Option<String> {
    let plural = if count == 1 { "policy" } else { "policies" };
    (count > 0).then(|| format!("{count} {plural} not evaluated: no binding"))
}
