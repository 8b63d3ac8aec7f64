//! Authorization checks that are answered elsewhere: collected while policies judge, asked together.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_policy::authz::{Answer, Authorizer, Check, Decision, ResourceCheck, Target, User};

/// Answers authorization checks, perhaps by asking somebody: an API server's SubjectAccessReviews, say.
pub trait Decider: Send + Sync {
    /// Answers questions, in their order. An answer that is missing counts as no opinion.
    fn decide(&self, questions: Vec<Question>) -> Decisions<'_>;
}

/// Has no opinion on anything, as where there is nobody to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOpinion;

impl Decider for NoOpinion {
    fn decide(&self, _: Vec<Question>) -> Decisions<'_> {
        Box::pin(async { Vec::new() })
    }
}

/// Answers to come.
pub type Decisions<'d> = Pin<Box<dyn Future<Output = Vec<Decision>> + Send + 'd>>;

/// A check to be answered: may the user do this?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Who.
    pub user: User,
    /// Does what: a verb of the API, or of HTTP for a path.
    pub verb: String,
    /// To what.
    pub subject: QuestionSubject,
}

/// What a [`Question`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionSubject {
    /// A path that is no resource.
    Path(String),
    /// A resource, in all of its versions.
    Resource(Box<ResourceCheck>),
}

/// The answers to the checks of one request, each asked once.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    known: Mutex<HashMap<Question, Decision>>,
    open: Mutex<Vec<Question>>,
}

impl Answers {
    /// Asks what is open; gives whether anything was.
    pub(crate) async fn ask(&self, decider: &dyn Decider) -> bool {
        let questions = std::mem::take(&mut *lock(&self.open));
        if questions.is_empty() {
            return false;
        }
        let mut decisions = decider.decide(questions.clone()).await.into_iter();
        let answered = questions
            .into_iter()
            .map(|question| (question, decisions.next().unwrap_or_default()));
        lock(&self.known).extend(answered);
        true
    }
}

impl Authorizer for Answers {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let question = Question::from(check);
        if let Some(decision) = lock(&self.known).get(&question) {
            return Answer::Decided(decision.clone());
        }
        let mut open = lock(&self.open);
        if !open.contains(&question) {
            open.push(question);
        }
        Answer::Pending
    }
}

/// What a thread that panicked left behind is whole: entries are only added and taken.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Of the user the name has to do: checks of one request are about its user and a few service accounts.
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
