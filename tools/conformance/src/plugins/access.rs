//! The authorizer of a case, which compares versions too.

use pratique_plugin::{Access, AccessAnswer, AccessReviewer};
use serde::Deserialize;

use crate::authorizer::CheckRule;

/// The `authorizer` of a case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CaseReviewer {
    allow: Vec<CheckRule>,
}

impl AccessReviewer for CaseReviewer {
    fn review(&self, access: &Access<'_>) -> AccessAnswer {
        match self.allow.iter().find(|rule| rule.equals(fields(access))) {
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

fn fields<'a>(access: &Access<'a>) -> [&'a str; 9] {
    [
        access.verb,
        access.group,
        access.version,
        access.resource,
        access.subresource,
        access.namespace,
        access.name,
        "",
        access.user.username.as_str(),
    ]
}
