//! Messages about policies without a binding.

use pratique_review::Unbound;

use crate::output::counted::counted;

/// The message for a policy.
pub(crate) fn message(policy: &Unbound) -> String {
    format!("{} {} is not evaluated: no binding", policy.kind(), policy.name)
}

/// The message with their number; `None` if there are none.
pub(crate) fn count(count: usize) -> Option<String> {
    let policies = counted(count, "policy", "policies");
    (count > 0).then(|| format!("{policies} not evaluated: no binding"))
}
