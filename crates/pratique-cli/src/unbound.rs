//! Messages about policies without a binding.

use pratique_suite::Unbound;

/// The message for a policy.
pub(crate) fn message(policy: &Unbound) -> String {
    format!("{} {} is not evaluated: no binding", policy.kind(), policy.name)
}

/// The message with their number; `None` if there are none.
pub(crate) fn count(count: usize) -> Option<String> {
    let plural = if count == 1 { "policy" } else { "policies" };
    (count > 0).then(|| format!("{count} {plural} not evaluated: no binding"))
}
