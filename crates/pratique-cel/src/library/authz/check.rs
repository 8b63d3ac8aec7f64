//! What a host is asked, and what it answers.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Answers authorization checks.
pub trait Authorizer: Debug + Send + Sync {
    /// Answers a check, or says that the answer is not known yet. Must not block.
    fn authorize(&self, check: &Check<'_>) -> Answer;
}

/// A question: may the user do this?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Check<'c> {
    /// Who.
    pub user: &'c User,
    /// Does what: a verb of the API (`create`), or of HTTP for a path.
    pub verb: &'c str,
    /// To what.
    pub target: Target<'c>,
}

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target<'c> {
    /// A path that is no resource: `/healthz`.
    Path(&'c str),
    /// A resource. Its version is always `*`.
    Resource(&'c ResourceCheck),
}

/// A resource in a check; what is empty was not restricted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ResourceCheck {
    /// Its API group, empty for the core group.
    pub group: String,
    /// Its plural name.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The text of a field selector. Malformed ones are part of the question too.
    pub field_selector: String,
    /// The text of a label selector. Malformed ones are part of the question too.
    pub label_selector: String,
}

/// A user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct User {
    /// The user's name.
    pub name: String,
    /// The user's unique identity.
    pub uid: String,
    /// The groups the user is in.
    pub groups: Vec<String>,
    /// What else the authenticator knows.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// The user that a service account is.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
            ],
            ..Self::default()
        }
    }
}

/// The answer to a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is known.
    Decided(Decision),
    /// It is not known yet: the evaluation ends, to be repeated.
    Pending,
}

/// A decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is allowed; denial and "no opinion" are the same here.
    pub allowed: bool,
    /// Why, for people.
    pub reason: String,
    /// What went wrong while deciding.
    pub error: Option<String>,
}
