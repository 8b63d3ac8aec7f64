//! The authorizer that a case describes: rules that allow, no opinion on the rest.

use pratique::authorization::{Answer, Authorizer, AuthorizerDecision, Check, Target};
use serde::Deserialize;

/// The `authorizer` of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CaseAuthorizer {
    allow: Vec<CheckRule>,
}

/// A rule: the attributes of a check must equal each field that is not empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CheckRule {
    verb: String,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    path: String,
    user: String,
    pub(crate) reason: String,
    pub(crate) error: String,
}

impl CaseAuthorizer {
    /// An authorizer with rules, the first that fits counting.
    pub fn new(allow: Vec<CheckRule>) -> Self {
        CaseAuthorizer { allow }
    }
}

impl Authorizer for CaseAuthorizer {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let rule = self.allow.iter().find(|rule| rule.fits(check));
        let decision = rule.map_or_else(AuthorizerDecision::default, |rule| AuthorizerDecision {
            allowed: rule.error.is_empty(),
            reason: rule.reason.clone(),
            error: (!rule.error.is_empty()).then(|| rule.error.clone()),
        });
        Answer::Decided(decision)
    }
}

impl CheckRule {
    fn fits(&self, check: &Check<'_>) -> bool {
        let none = Default::default();
        let (path, resource, version) = match check.target {
            Target::Path(path) => (path, &none, ""),
            Target::Resource(resource) => ("", resource, "*"),
        };
        self.equals([
            check.verb,
            &resource.group,
            version,
            &resource.resource,
            &resource.subresource,
            &resource.namespace,
            &resource.name,
            path,
            &check.user.name,
        ])
    }

    /// Whether what is checked, in the order of the fields, equals each of them that is not empty.
    pub(crate) fn equals(&self, checked: [&str; 9]) -> bool {
        let wanted = [
            &self.verb,
            &self.group,
            &self.version,
            &self.resource,
            &self.subresource,
            &self.namespace,
            &self.name,
            &self.path,
            &self.user,
        ];
        let mut pairs = wanted.into_iter().zip(checked);
        pairs.all(|(wanted, checked)| wanted.is_empty() || wanted == checked)
    }
}
