//! The authorization checks of expressions (`authorizer` in CEL), and what answers them.
//!
//! An [`Authorizer`] answers at once, for [`Admission::admit_policies`](crate::Admission::admit_policies). A [`CheckDecider`] may
//! ask an API server first: the checks of a request are collected while its policies are evaluated, asked together, and the
//! policies evaluated again with the answers.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use pratique_policy::authz::{
    Answer, Authorizer, AuthorizerDecision, Check, NoAuthorizer, Question, QuestionSubject, ResourceCheck,
    Target, User,
};

/// Answers authorization checks, possibly by a request to another process, such as SubjectAccessReviews.
pub trait CheckDecider: Send + Sync {
    /// Answers questions, in their order. Policies that depend on a missing answer are undecided.
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_>;
}

/// Answers nothing: policies that depend on an authorization check are undecided. The default of a
/// [`Live`](crate::Live).
impl CheckDecider for NoAuthorizer {
    fn decide(&self, _: Vec<Question>) -> PendingDecisions<'_> {
        Box::pin(async { Vec::new() })
    }
}

/// Has no opinion on any check, which expressions see as not allowed: the answer of an API server whose authorizers
/// have no rules. Choose it only for such a server, as it lets `!authorizer…check('use').allowed()` pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOpinion;

impl CheckDecider for NoOpinion {
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_> {
        Box::pin(async move { vec![AuthorizerDecision::default(); questions.len()] })
    }
}

/// A [`CheckDecider`] by an [`Authorizer`] that answers at once. From the first question on that it cannot answer, no question
/// asked at the same time is answered.
#[derive(Clone, Debug)]
pub struct AtOnce<A>(pub A);

impl<A: Authorizer> CheckDecider for AtOnce<A> {
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_> {
        let answers = questions
            .iter()
            .map(|question| self.0.authorize(&question.as_check()));
        let decided = answers.map_while(|answer| match answer {
            Answer::Decided(decision) => Some(decision),
            Answer::Pending | Answer::Unknown => None,
        });
        let decisions: Vec<AuthorizerDecision> = decided.collect();
        Box::pin(std::future::ready(decisions))
    }
}

/// Answers to come.
pub type PendingDecisions<'d> = Pin<Box<dyn Future<Output = Vec<AuthorizerDecision>> + Send + 'd>>;

/// The answers to the checks of one request, each sent once.
#[derive(Debug, Default)]
pub(crate) struct RequestAnswers {
    /// The authorizer that answers without the decider.
    at_once: Option<Arc<dyn Authorizer>>,
    /// The answers so far; `None` for checks that cannot be answered.
    answers: Mutex<HashMap<Question, Option<AuthorizerDecision>>>,
    open: Mutex<Vec<Question>>,
}

impl RequestAnswers {
    /// Answers by an authorizer, as far as it answers at once.
    pub(crate) fn new(at_once: Option<Arc<dyn Authorizer>>) -> Self {
        RequestAnswers {
            at_once,
            ..RequestAnswers::default()
        }
    }

    /// Sends the open questions; returns whether there were any.
    pub(crate) async fn ask(&self, decider: &dyn CheckDecider) -> bool {
        let questions = std::mem::take(&mut *lock(&self.open));
        if questions.is_empty() {
            return false;
        }
        let mut decisions = decider.decide(questions.clone()).await.into_iter();
        let answered = questions.into_iter().map(|question| (question, decisions.next()));
        lock(&self.answers).extend(answered);
        true
    }
}

impl Authorizer for RequestAnswers {
    fn authorize(&self, check: &Check<'_>) -> Answer {
        let at_once = self
            .at_once
            .as_ref()
            .map(|authorizer| authorizer.authorize(check));
        if let Some(answer) = at_once.filter(|answer| !matches!(answer, Answer::Pending)) {
            return answer;
        }
        let question = Question::from(check);
        if let Some(decision) = lock(&self.answers).get(&question) {
            return decision.clone().map_or(Answer::Unknown, Answer::Decided);
        }
        let mut open = lock(&self.open);
        if !open.contains(&question) {
            open.push(question);
        }
        Answer::Pending
    }
}

/// The state is consistent even after a panic: entries are only added and taken.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
