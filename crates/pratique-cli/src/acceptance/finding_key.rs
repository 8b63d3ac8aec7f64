//! By what a finding is known again in a later run.

use serde::{Deserialize, Serialize};

/// What follows from a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FindingAction {
    Deny,
    Warn,
    Audit,
}

/// By what a finding is known again: the object, the policy and the validation, but no place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindingKey {
    pub(super) policy: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) binding: String,
    pub(super) action: FindingAction,
    pub(super) resource: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) namespace: String,
    /// Empty for the Pod of a workload, whose name changes with its template.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    /// The workload that makes the object: `Deployment/web`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) of: String,
    /// What stands for the expression of the validation: its place changes whenever another is added or removed before it.
    ///
    /// Validations of a policy with the same expression fail together: the count of the finding tells them apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) expression: String,
    /// What is said, where no validation of a policy says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
}

impl FindingKey {
    /// `no-root denies pods shop/web`
    pub(super) fn describe(&self) -> String {
        let verb = match self.action {
            FindingAction::Deny => "denies",
            FindingAction::Warn => "warns about",
            FindingAction::Audit => "records",
        };
        let policy = match self.policy.as_str() {
            "" => "the server",
            policy => policy,
        };
        let object = match self.of.as_str() {
            "" => self.name.as_str(),
            of => of,
        };
        let separator = if self.namespace.is_empty() { "" } else { "/" };
        format!(
            "{policy} {verb} {} {}{separator}{object}",
            self.resource, self.namespace
        )
    }
}
