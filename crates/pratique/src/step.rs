//! Admission that is written in Rust, at any place of the chain.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pratique_json::Value;
use pratique_policy::Submission;
use pratique_types::{Reason, Status};

/// A step of the chain that a program brings: it may change the object, refuse the request, warn and annotate.
pub trait AdmissionStep: Send + Sync {
    /// Its name, for those who count or log.
    fn name(&self) -> &str;

    /// Looks at a request with its object as it is by now. The future may be dropped when nobody waits any more.
    fn act<'a>(&'a self, submission: Submission<'a>) -> Acting<'a>;
}

/// A step at work.
pub type Acting<'a> = Pin<Box<dyn Future<Output = Acted> + Send + 'a>>;

/// What a step did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Acted {
    /// The changed object; `None` leaves it as it is. A step behind the mutating ones may change nothing.
    pub object: Option<Value<'static>>,
    /// Why the request is refused; `None` lets it go on.
    pub status: Option<Status>,
    /// What to tell the user.
    pub warnings: Vec<String>,
    /// What to keep in the audit log; what is there under a key stays.
    pub audit_annotations: BTreeMap<String, String>,
}

/// Where in the chain a step is. Steps at the same place act in the order in which they were given.
///
/// Up to [`AfterMutatingWebhooks`](Place::AfterMutatingWebhooks) steps act in each round: a policy or webhook that
/// changes the object brings about a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Before everything.
    BeforeMutatingPolicies,
    /// Between mutating policies and mutating webhooks.
    BeforeMutatingWebhooks,
    /// Behind mutating webhooks.
    AfterMutatingWebhooks,
    /// Once, when the object is as it will be: where a server defaults and validates it. Such a step may change it.
    Schema,
    /// Before validating policies.
    BeforeValidatingPolicies,
    /// Between validating policies and validating webhooks.
    BeforeValidatingWebhooks,
    /// Behind everything.
    AfterValidatingWebhooks,
}

impl Place {
    /// Whether a step may change the object there.
    pub fn mutates(self) -> bool {
        self <= Place::Schema
    }
}

impl Acted {
    /// Lets the request go on as it is.
    pub fn allow() -> Self {
        Acted::default()
    }

    /// Refuses the request: 403.
    pub fn deny(message: impl Into<String>) -> Self {
        Acted {
            status: Some(Status::failure(Reason::Forbidden, message)),
            ..Acted::default()
        }
    }

    /// Lets the request go on with another object.
    pub fn change(object: Value<'static>) -> Self {
        Acted {
            object: Some(object),
            ..Acted::default()
        }
    }

    /// And tells the user.
    #[must_use]
    pub fn warn(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }

    /// And keeps something in the audit log.
    #[must_use]
    pub fn annotate(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.audit_annotations.insert(key.into(), value.into());
        self
    }
}

/// A step that has its answer at once.
pub fn step<F>(name: impl Into<String>, act: F) -> impl AdmissionStep + 'static
where
    F: Fn(Submission<'_>) -> Acted + Send + Sync + 'static,
{
    Immediate {
        name: name.into(),
        act,
    }
}

struct Immediate<F> {
    name: String,
    act: F,
}

impl<F: Fn(Submission<'_>) -> Acted + Send + Sync> AdmissionStep for Immediate<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn act<'a>(&'a self, submission: Submission<'a>) -> Acting<'a> {
        Box::pin(async move { (self.act)(submission) })
    }
}

/// The steps of a chain.
#[derive(Clone, Default)]
pub(crate) struct Steps(Vec<(Place, Arc<dyn AdmissionStep>)>);

impl Steps {
    pub(crate) fn add(&mut self, place: Place, step: Arc<dyn AdmissionStep>) {
        self.0.push((place, step));
    }

    pub(crate) fn at(&self, place: Place) -> impl Iterator<Item = &dyn AdmissionStep> {
        let own = self.0.iter().filter(move |(own, _)| *own == place);
        own.map(|(_, step)| &**step)
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.0.iter().map(|(place, step)| (place, step.name()));
        formatter.debug_list().entries(names).finish()
    }
}
