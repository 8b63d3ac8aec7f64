//! The authorization checks of plugins.

use pratique_cel::library::authz::{Answer, Authorizer, Check, Question, ResourceCheck, Target, User};
use pratique_types::UserInfo;

/// An authorization check of a plugin. Empty fields are not restricted.
///
/// Unlike the checks of expressions, it names a version.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// The user.
    pub user: &'a UserInfo,
    /// The verb: `create`.
    pub verb: &'a str,
    /// The API group, empty for the core group.
    pub group: &'a str,
    /// The API version, `*` for any.
    pub version: &'a str,
    /// The plural name of the resource.
    pub resource: &'a str,
    /// The subresource.
    pub subresource: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The name of the object.
    pub name: &'a str,
}

/// The answer to an [`Access`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessAnswer {
    /// It is allowed.
    Allowed,
    /// It is not allowed, or nothing has an opinion.
    Denied {
        /// The reason, if the authorizer gives one.
        reason: String,
    },
    /// The check failed, and nothing has an opinion.
    Failed {
        /// The reason, if the authorizer gives one.
        reason: String,
        /// The error.
        error: String,
    },
    /// The answer is not known yet.
    Pending,
    /// The answer cannot be known.
    Unknown,
}

/// Answers the authorization checks of plugins.
pub trait AccessReviewer: Sync {
    /// Answers a check, perhaps as unknown or pending. Must not block.
    fn review(&self, access: &Access<'_>) -> AccessAnswer;
}

/// Answers no check, so that a plugin that depends on one is undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAccessReviewer;

impl AccessReviewer for NoAccessReviewer {
    fn review(&self, _: &Access<'_>) -> AccessAnswer {
        AccessAnswer::Unknown
    }
}

/// Answers the checks of plugins by the authorizer that the expressions of policies use. The version is not passed on.
#[derive(Clone, Copy, Debug)]
pub struct PolicyAuthorizer<'a>(pub &'a dyn Authorizer);

impl AccessReviewer for PolicyAuthorizer<'_> {
    fn review(&self, access: &Access<'_>) -> AccessAnswer {
        let Question { user, verb, .. } = access.question();
        let resource = access.resource_check();
        let check = Check {
            user: &user,
            verb: &verb,
            target: Target::Resource(&resource),
        };
        match self.0.authorize(&check) {
            Answer::Pending => AccessAnswer::Pending,
            Answer::Unknown => AccessAnswer::Unknown,
            Answer::Decided(decision) => match decision.error {
                Some(_) if decision.allowed => AccessAnswer::Allowed,
                Some(error) => AccessAnswer::Failed {
                    reason: decision.reason,
                    error,
                },
                None if decision.allowed => AccessAnswer::Allowed,
                None => AccessAnswer::Denied {
                    reason: decision.reason,
                },
            },
        }
    }
}

impl Access<'_> {
    /// The check in an owned form.
    pub fn question(&self) -> Question {
        let user = User {
            name: self.user.username.clone(),
            uid: self.user.uid.clone(),
            groups: self.user.groups.clone(),
            extra: self.user.extra.clone(),
        };
        let resource = self.resource_check();
        Question::from(&Check {
            user: &user,
            verb: self.verb,
            target: Target::Resource(&resource),
        })
    }

    fn resource_check(&self) -> ResourceCheck {
        ResourceCheck {
            group: self.group.to_owned(),
            resource: self.resource.to_owned(),
            subresource: self.subresource.to_owned(),
            namespace: self.namespace.to_owned(),
            name: self.name.to_owned(),
            ..ResourceCheck::default()
        }
    }
}
