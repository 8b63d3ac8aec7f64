//! By what a finding is known again in a later run.

use pratique_report::Action;
use serde::{Deserialize, Serialize};

/// The actions of findings that can be accepted, as baselines name them: how an [`Action`] is read, and no type of any value.
#[derive(Deserialize)]
#[serde(remote = "Action", rename_all = "lowercase")]
enum AcceptableAction {
    Deny,
    Warn,
    Audit,
}

/// Whether a finding with this action can be accepted: an error that is ignored follows in nothing.
pub(super) fn is_acceptable(action: Action) -> bool {
    match action {
        Action::Deny | Action::Warn | Action::Audit => true,
        Action::Ignore | Action::Undecided | Action::Accepted => false,
    }
}

/// By what a finding is known again: the object, the policy and the validation, but no place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FindingKey {
    pub(super) policy: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) binding: String,
    #[serde(deserialize_with = "AcceptableAction::deserialize")]
    pub(super) action: Action,
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
            Action::Deny => "denies",
            Action::Warn => "warns about",
            Action::Audit => "records",
            Action::Ignore => "ignores an error about",
            Action::Undecided => "is undecided about",
            Action::Accepted => "accepts",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_accepted_is_read() {
        let read = |action: &str| {
            let text = format!(r#"{{"policy": "p", "action": {action}, "resource": "pods"}}"#);
            serde_json::from_str::<FindingKey>(&text).map(|key| key.action)
        };
        for action in [Action::Deny, Action::Warn, Action::Audit] {
            assert!(is_acceptable(action));
            assert_eq!(read(&format!("{:?}", action.as_str())).unwrap(), action);
        }
        for action in [Action::Ignore, Action::Undecided, Action::Accepted] {
            assert!(!is_acceptable(action));
            let action = action.as_str();
            let error = read(&format!("{action:?}")).unwrap_err().to_string();
            let expected = format!(
                "unknown variant `{action}`, expected one of `deny`, `warn`, `audit` at line 1 column"
            );
            assert!(error.starts_with(&expected), "{error}");
        }
        assert!(read("1").is_err());
    }
}
