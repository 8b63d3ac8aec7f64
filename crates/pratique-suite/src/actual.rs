//! The actual result of a test.

use std::collections::BTreeMap;

use pratique::Outcome;
use pratique::policy::MissingDependency;
use pratique_json::Value;
use pratique_types::{Reason, Status};

use crate::evaluated_request::EvaluatedRequest;
use crate::plugin_outcome::{PluginOutcome, plugin_outcomes};
use crate::policy_outcome::PolicyOutcomes;
use pratique_review::chain::ReviewStep;
use pratique_review::{Decision, read_decision};

/// The actual result of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActualResult {
    /// The decision.
    pub decision: Decision,
    /// The HTTP code of a denial.
    pub code: i32,
    /// The reason of a denial.
    pub reason: String,
    /// The message of a denial, or the missing inputs of an undecided request.
    pub message: String,
    /// The fields for which the server itself refuses the object, with the reason of each.
    pub invalid: Vec<(String, String)>,
    /// The policy that the message names.
    pub policy: Option<String>,
    /// The admission plugin that refuses the request.
    pub plugin: Option<String>,
    /// The outcome of the request in each admission plugin that ran, if it went through the server's chain.
    pub plugins: BTreeMap<String, PluginOutcome>,
    /// The steps of the chain.
    pub steps: Vec<ReviewStep>,
    /// The used amounts of quotas after the request, by `NAMESPACE/NAME` and by resource.
    pub quotas: BTreeMap<String, BTreeMap<String, String>>,
    /// The namespace of the request.
    pub namespace: String,
    /// The outcome of the request in each policy and binding, if the test expects something of some.
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

impl ActualResult {
    pub(crate) fn new(evaluated: EvaluatedRequest) -> Self {
        let EvaluatedRequest {
            outcome,
            request,
            steps,
            ..
        } = evaluated;
        let plugins = plugin_outcomes(&steps, &outcome);
        let decision = read_decision(&outcome);
        let missing = match decision {
            Decision::Undecided => undecided(&outcome),
            _ => String::new(),
        };
        let status = outcome.status.unwrap_or_default();
        ActualResult {
            decision,
            code: status.code,
            invalid: invalid_fields(&status, decision),
            policy: policy_of(&status.message),
            plugin: outcome.refused_by.map(String::from),
            plugins,
            steps,
            quotas: BTreeMap::new(),
            namespace: request.namespace.clone(),
            reason: status.reason,
            message: if missing.is_empty() {
                status.message
            } else {
                missing
            },
            outcomes: PolicyOutcomes::default(),
            warnings: outcome.warnings,
            audit_annotations: outcome.audit_annotations,
            changed: outcome.object.is_some(),
            object: outcome.object.unwrap_or(request.object),
        }
    }
}

impl ActualResult {
    /// The `NAMESPACE/NAME` of a quota that may be named by its name.
    pub(crate) fn quota_key(&self, name: &str) -> String {
        if name.contains('/') {
            name.to_owned()
        } else {
            format!("{}/{name}", self.namespace)
        }
    }
}

/// The fields that a status names as the causes of a denial.
fn invalid_fields(status: &Status, decision: Decision) -> Vec<(String, String)> {
    if decision != Decision::Denied || status.code != Reason::Invalid.code() {
        return Vec::new();
    }
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes
        .filter(|cause| !cause.field.is_empty())
        .map(|cause| (cause.field.clone(), cause.reason.clone()))
        .collect()
}

/// The inputs that the suite does not give, and how to give them.
fn undecided(outcome: &Outcome) -> String {
    let each = outcome.undecided.iter().map(|undecided| {
        let give = match &undecided.missing {
            MissingDependency::Authorizer { .. } => {
                "give the rules that apply as cluster.authorizer, or roles and bindings under cluster.objects"
            }
            MissingDependency::Objects { .. } => {
                "give those that there are under cluster.objects, and say with cluster.complete that there are no others"
            }
            MissingDependency::Status { .. } => "give the object with its status under cluster.objects",
            MissingDependency::WebhookAnswer => "say what it answers under webhooks, by its name",
            MissingDependency::Resource { .. } => {
                "name it as `resource`, or give the CustomResourceDefinition of the kind under cluster.objects"
            }
            MissingDependency::Validation { .. } => "leave the server's validation out with validation: false",
            MissingDependency::ImageReview => "leave the plugin out with chain.disableAdmissionPlugins",
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
    let (policy_phrase, _) = message.split_once(" denied request: ")?;
    let (_, rest) = policy_phrase.split_once("olicy ")?;
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
