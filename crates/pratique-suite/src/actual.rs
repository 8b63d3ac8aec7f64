//! What policies made of a request.

use std::collections::BTreeMap;

use pratique::Outcome;
use pratique_json::Value;
use pratique_types::AdmissionRequest;

/// What policies made of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Actual {
    /// Whether it is allowed.
    pub allowed: bool,
    /// The HTTP code of a denial.
    pub code: i32,
    /// The reason of a denial.
    pub reason: String,
    /// The message of a denial.
    pub message: String,
    /// The policy that the message names.
    pub policy: Option<String>,
    /// The warnings.
    pub warnings: Vec<String>,
    /// The audit annotations.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object as it goes on; null where there is none.
    pub object: Value<'static>,
    /// Whether policies changed it.
    pub changed: bool,
}

impl Actual {
    pub(crate) fn new(outcome: Outcome, request: &AdmissionRequest<'static>) -> Self {
        let allowed = outcome.allowed();
        let status = outcome.status.unwrap_or_default();
        Actual {
            allowed,
            code: status.code,
            policy: policy_of(&status.message),
            reason: status.reason,
            message: status.message,
            warnings: outcome.warnings,
            audit_annotations: outcome.audit_annotations,
            changed: outcome.object.is_some(),
            object: outcome.object.unwrap_or_else(|| request.object.clone()),
        }
    }
}

/// The policy that a denial names: `…Policy 'p' with binding 'b' denied request: …`, `policy "p" denied request: …`.
fn policy_of(message: &str) -> Option<String> {
    let (before, _) = message.split_once(" denied request: ")?;
    let (_, rest) = before.split_once("olicy ")?;
    let quote = rest.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
    let (name, _) = rest.strip_prefix(quote)?.split_once(quote)?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_name_their_policy() {
        let check = |message, expected: Option<&str>| assert_eq!(policy_of(message).as_deref(), expected);
        check(
            "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            Some("p"),
        );
        check("policy 'm' with binding 'b' denied request: no", Some("m"));
        check("policy \"m\" denied request: no", Some("m"));
        check("namespaces \"x\" not found", None);
    }
}
