//! The actual result of a test.

use std::collections::BTreeMap;

use pratique::Outcome;
use pratique::policy::Missing;
use pratique_json::Value;
use pratique_types::AdmissionRequest;

use crate::decision::Decision;
use crate::policy_outcome::PolicyOutcomes;

/// The actual result of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Actual {
    /// The decision.
    pub decision: Decision,
    /// The HTTP code of a denial.
    pub code: i32,
    /// The reason of a denial.
    pub reason: String,
    /// The message of a denial, or the missing inputs of an undecided request.
    pub message: String,
    /// The policy that the message names.
    pub policy: Option<String>,
    /// What became of the request in each policy and binding, if the test expects something of some.
    pub outcomes: PolicyOutcomes,
    /// The warnings.
    pub warnings: Vec<String>,
    /// The audit annotations.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object after mutation; null if there is none.
    pub object: Value<'static>,
    /// Whether policies changed it.
    pub changed: bool,
}

impl Actual {
    pub(crate) fn new(outcome: Outcome, request: &AdmissionRequest<'static>) -> Self {
        let decision = Decision::of(&outcome);
        let missing = match decision {
            Decision::Undecided => undecided(&outcome),
            _ => String::new(),
        };
        let status = outcome.status.unwrap_or_default();
        Actual {
            decision,
            code: status.code,
            policy: policy_of(&status.message),
            reason: status.reason,
            message: match missing.is_empty() {
                true => status.message,
                false => missing,
            },
            outcomes: PolicyOutcomes::default(),
            warnings: outcome.warnings,
            audit_annotations: outcome.audit_annotations,
            changed: outcome.object.is_some(),
            object: outcome.object.unwrap_or_else(|| request.object.clone()),
        }
    }
}

/// The inputs that the suite does not give, and how to give them.
fn undecided(outcome: &Outcome) -> String {
    let each = outcome.undecided.iter().map(|undecided| {
        let give = match &undecided.missing {
            Missing::Authorizer { .. } => {
                "give the rules that apply as cluster.authorizer, or roles and bindings under cluster.objects"
            }
            _ => {
                "give the namespace with its labels under cluster.namespaces, or whole under cluster.objects"
            }
        };
        format!("{undecided}: {give}")
    });
    each.collect::<Vec<_>>().join("\n")
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
