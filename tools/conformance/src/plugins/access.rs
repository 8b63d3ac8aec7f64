//! The authorizer of a case, which compares versions too.

use pratique_plugin::{Access, AccessAnswer, AccessReviewer};
use serde::Deserialize;

/// The `authorizer` of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CaseReviewer {
    allow: Vec<Rule>,
}

/// What is checked must equal each field that is not empty.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Rule {
    verb: String,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
    path: String,
    user: String,
    reason: String,
    error: String,
}

impl AccessReviewer for CaseReviewer {
    fn review(&self, access: &Access<'_>) -> AccessAnswer {
        match self.allow.iter().find(|rule| rule.fits(access)) {
            None => AccessAnswer::Denied {
                reason: String::new(),
            },
            Some(rule) if rule.error.is_empty() => AccessAnswer::Allowed,
            Some(rule) => AccessAnswer::Failed {
                reason: rule.reason.clone(),
                error: rule.error.clone(),
            },
        }
    }
}

impl Rule {
    fn fits(&self, access: &Access<'_>) -> bool {
        let pairs = [
            (&self.verb, access.verb),
            (&self.group, access.group),
            (&self.version, access.version),
            (&self.resource, access.resource),
            (&self.subresource, access.subresource),
            (&self.namespace, access.namespace),
            (&self.name, access.name),
            (&self.path, ""),
            (&self.user, access.user.username.as_str()),
        ];
        pairs
            .iter()
            .all(|(wanted, checked)| wanted.is_empty() || wanted == checked)
    }
}
