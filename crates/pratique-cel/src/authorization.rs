//! Authorization checks: the interface to a host that answers them.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{Hash, Hasher};

/// Answers authorization checks.
pub trait Authorizer: Debug + Send + Sync {
    /// Answers a check, or says that the answer is not known, or not yet. Must not block.
    fn authorize(&self, check: &Check<'_>) -> Answer;
}

/// A question: may the user do this?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Check<'c> {
    /// The user.
    pub user: &'c User,
    /// The verb: of the API (`create`), or of HTTP for a path.
    pub verb: &'c str,
    /// The resource or path.
    pub target: Target<'c>,
}

/// The resource or path of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target<'c> {
    /// A path that is no resource: `/healthz`.
    Path(&'c str),
    /// A resource. Its version is always `*`.
    Resource(&'c ResourceCheck),
}

/// A resource in a check; empty fields are not restricted.
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

impl ResourceCheck {
    /// How much memory its texts take.
    pub(super) fn owned_bytes(&self) -> usize {
        let ResourceCheck {
            group,
            resource,
            subresource,
            namespace,
            name,
            field_selector,
            label_selector,
        } = self;
        let selectors = field_selector.len() + label_selector.len();
        group.len() + resource.len() + subresource.len() + namespace.len() + name.len() + selectors
    }
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
    /// Other attributes from the authenticator.
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
    Decided(AuthorizerDecision),
    /// It is not known yet: the evaluation ends, to be repeated.
    Pending,
    /// It cannot be known: the evaluation ends, undecided.
    Unknown,
}

/// Answers no check, so that expressions that depend on one are undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAuthorizer;

impl Authorizer for NoAuthorizer {
    fn authorize(&self, _: &Check<'_>) -> Answer {
        Answer::Unknown
    }
}

/// Gives every check the same decision.
#[derive(Clone, Copy, Debug)]
pub struct FixedAuthorizer {
    /// Whether all checks are allowed.
    pub allowed: bool,
}

impl Authorizer for FixedAuthorizer {
    fn authorize(&self, _: &Check<'_>) -> Answer {
        Answer::Decided(AuthorizerDecision {
            allowed: self.allowed,
            ..AuthorizerDecision::default()
        })
    }
}

/// An owned [`Check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The user.
    pub user: User,
    /// The verb: of the API, or of HTTP for a path.
    pub verb: String,
    /// The resource or path.
    pub subject: QuestionSubject,
}

/// The resource or path of a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionSubject {
    /// A path that is no resource.
    Path(String),
    /// A resource, in all of its versions.
    Resource(Box<ResourceCheck>),
}

impl Question {
    /// The check.
    pub fn as_check(&self) -> Check<'_> {
        Check {
            user: &self.user,
            verb: &self.verb,
            target: match &self.subject {
                QuestionSubject::Path(path) => Target::Path(path),
                QuestionSubject::Resource(resource) => Target::Resource(resource),
            },
        }
    }
}

impl From<&Check<'_>> for Question {
    fn from(check: &Check<'_>) -> Self {
        Question {
            user: check.user.clone(),
            verb: check.verb.to_owned(),
            subject: match check.target {
                Target::Path(path) => QuestionSubject::Path(path.to_owned()),
                Target::Resource(resource) => QuestionSubject::Resource(Box::new(resource.clone())),
            },
        }
    }
}

/// Of the user only the name is hashed: checks of one request are about its user and a few service accounts.
impl Hash for Question {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.user.name.hash(state);
        self.verb.hash(state);
        match &self.subject {
            QuestionSubject::Path(path) => path.hash(state),
            QuestionSubject::Resource(resource) => {
                let ResourceCheck {
                    group,
                    resource,
                    subresource,
                    namespace,
                    name,
                    ..
                } = &**resource;
                (group, resource, subresource, namespace, name).hash(state);
            }
        }
    }
}

/// `user "ann" may create deployments.apps/scale "web" in namespace "shop"`
impl Display for Question {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "user {:?} may {} ", self.user.name, self.verb)?;
        match &self.subject {
            QuestionSubject::Path(path) => formatter.write_str(path),
            QuestionSubject::Resource(check) => Display::fmt(check, formatter),
        }
    }
}

impl Display for ResourceCheck {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.resource)?;
        for (separator, part) in [(".", &self.group), ("/", &self.subresource)] {
            if !part.is_empty() {
                write!(formatter, "{separator}{part}")?;
            }
        }
        for (label, part) in [
            ("", &self.name),
            ("in namespace ", &self.namespace),
            ("with fields ", &self.field_selector),
            ("with labels ", &self.label_selector),
        ] {
            if !part.is_empty() {
                write!(formatter, " {label}{part:?}")?;
            }
        }
        Ok(())
    }
}

/// A decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorizerDecision {
    /// Whether it is allowed; denial and "no opinion" are the same here.
    pub allowed: bool,
    /// The reason, for people.
    pub reason: String,
    /// The error while deciding.
    pub error: Option<String>,
}
