//! Authorization checks, answered by an API server's SubjectAccessReviews.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use k8s_openapi::api::authorization::v1::{
    FieldSelectorAttributes, LabelSelectorAttributes, NonResourceAttributes, ResourceAttributes,
    SubjectAccessReview, SubjectAccessReviewSpec, SubjectAccessReviewStatus,
};
use kube::api::PostParams;
use kube::{Api, Client, Error};
use pratique::authorization::{
    AuthorizerDecision, CheckDecider, PendingDecisions, Question, QuestionSubject, ResourceCheck,
};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::answers::{AnswerCache, subject_size};
use super::background::{BackgroundRuntime, BackgroundTask, wait_within};
use super::failure;
use super::read::ReadError;
use super::requests::read_error;

/// Answers authorization checks by an API server's SubjectAccessReviews. A copy is the same, with the same memory.
///
/// The questions of a request are sent at the same time, at most sixteen of them. Answers are cached as by an API
/// server's webhook authorizer: allowed ones for five minutes, others for 30 seconds, errors not at all. The cache has
/// up to 8,192 answers in 32 MiB, and no question beyond 10,000 bytes, its user not counted. Transient failures are
/// retried up to four times within about four seconds.
#[derive(Clone, Debug)]
pub struct SubjectAccessReviewer(Arc<ReviewerInner>);

struct ReviewerInner {
    reviews: ReviewClient,
    handle: Handle,
    /// Keeps the runtime.
    _background: Arc<BackgroundRuntime>,
}

/// The client and limits of reviews.
#[derive(Clone)]
struct ReviewClient {
    api: Api<SubjectAccessReview>,
    url: Arc<str>,
    cache: Arc<Mutex<AnswerCache>>,
    remember: CacheTtl,
}

/// For how long answers are remembered.
#[derive(Clone, Copy, Debug)]
struct CacheTtl {
    allowed: Duration,
    denied: Duration,
}

impl SubjectAccessReviewer {
    pub(super) fn new(
        client: Client,
        url: &str,
        handle: &Handle,
        background: &Arc<BackgroundRuntime>,
    ) -> Self {
        let api: Api<SubjectAccessReview> = Api::all(client);
        SubjectAccessReviewer(Arc::new(ReviewerInner {
            reviews: ReviewClient {
                url: format!("{}{}", url.trim_end_matches('/'), api.resource_url()).into(),
                api,
                cache: Arc::default(),
                remember: CacheTtl {
                    allowed: Duration::from_secs(300),
                    denied: Duration::from_secs(30),
                },
            },
            handle: handle.clone(),
            _background: background.clone(),
        }))
    }

    /// Sends a question, and blocks the calling thread, which must not be one of a runtime, until it is answered.
    ///
    /// # Errors
    /// The API server gives no answer.
    pub fn ask(&self, question: Question) -> Result<AuthorizerDecision, ReadError> {
        let reviews = self.0.reviews.clone();
        let answer = async move { reviews.try_answer(question).await };
        match wait_within(&self.0.handle, answer, LONGEST) {
            Ok(Ok(decision)) => Ok(decision),
            Ok(Err(Some(error))) => Err(read_error(&error)),
            Ok(Err(None)) | Err(_) => Err(ReadError::TimedOut(PATIENCE)),
        }
    }

    /// Caches answers for these times instead, or not at all for a time of zero. The cache is emptied.
    #[must_use]
    pub fn remember(self, allowed: Duration, denied: Duration) -> Self {
        SubjectAccessReviewer(Arc::new(ReviewerInner {
            reviews: ReviewClient {
                cache: Arc::default(),
                remember: CacheTtl { allowed, denied },
                ..self.0.reviews.clone()
            },
            handle: self.0.handle.clone(),
            _background: self.0._background.clone(),
        }))
    }
}

impl CheckDecider for SubjectAccessReviewer {
    fn decide(&self, questions: Vec<Question>) -> PendingDecisions<'_> {
        Box::pin(async move {
            let count = questions.len();
            let reviews = self.0.reviews.clone();
            let answer = async move {
                let each = questions.into_iter().map(|question| {
                    let reviews = reviews.clone();
                    async move { reviews.answer(question).await }
                });
                stream::iter(each).buffered(AT_ONCE).collect::<Vec<_>>().await
            };
            let decisions = BackgroundTask::spawn(&self.0.handle, answer).done().await;
            decisions.unwrap_or_else(|| vec![unanswered("context canceled".to_owned()); count])
        })
    }
}

/// How many questions are sent at a time.
const AT_ONCE: usize = 16;

impl ReviewClient {
    async fn answer(&self, question: Question) -> AuthorizerDecision {
        match self.try_answer(question).await {
            Ok(decision) => decision,
            Err(error) => unanswered(self.message(error.map(|error| *error))),
        }
    }

    /// The answer; where there is none, the error, or none if it did not come in time.
    async fn try_answer(&self, question: Question) -> Result<AuthorizerDecision, Option<Box<Error>>> {
        if let Some(decision) = self.lock().get(&question, Instant::now()) {
            return Ok(decision);
        }
        let review = SubjectAccessReview {
            spec: spec(&question),
            ..SubjectAccessReview::default()
        };
        let decision = decision(self.ask(&review).await?);
        let remember = if decision.allowed {
            self.remember.allowed
        } else {
            self.remember.denied
        };
        if decision.error.is_none() && subject_size(&question.subject) + question.verb.len() < BIGGEST {
            self.lock()
                .add(question, decision.clone(), Instant::now(), remember);
        }
        Ok(decision)
    }

    /// Sends a review, with retries after transient failures. Without an error, there was no answer in time.
    async fn ask(
        &self,
        review: &SubjectAccessReview,
    ) -> Result<SubjectAccessReviewStatus, Option<Box<Error>>> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let answer = timeout(PATIENCE, self.api.create(&PostParams::default(), review)).await;
            let passing = match &answer {
                Ok(Ok(answer)) => return Ok(answer.status.clone().unwrap_or_default()),
                Ok(Err(error)) => failure::is_passing(error),
                Err(_) => false,
            };
            match pauses.next().filter(|_| passing) {
                Some(pause) => sleep(Duration::from_millis(pause)).await,
                None => return Err(answer.ok().and_then(Result::err).map(Box::new)),
            }
        }
    }

    /// The message of an API server, or that of its clients when they cannot reach it.
    fn message(&self, error: Option<Error>) -> String {
        match error {
            Some(error @ Error::Api(_)) => failure::error_text(&error),
            Some(error) => format!("Post {:?}: {}", self.url, failure::error_text(&error)),
            None => format!("Post {:?}: context deadline exceeded", self.url),
        }
    }

    /// The cache is consistent even after a panic: answers are added and taken by single steps.
    fn lock(&self) -> MutexGuard<'_, AnswerCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Between attempts, in milliseconds.
const PAUSES: [u64; 4] = [500, 750, 1125, 1687];

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may take with all attempts.
const LONGEST: Duration = Duration::from_secs(60);

/// Questions that are longer are not remembered.
const BIGGEST: usize = 10_000;

fn unanswered(error: String) -> AuthorizerDecision {
    AuthorizerDecision {
        error: Some(error),
        ..AuthorizerDecision::default()
    }
}

fn decision(status: SubjectAccessReviewStatus) -> AuthorizerDecision {
    let denied = status.denied == Some(true);
    let both = "webhook subject access review returned both allow and deny response";
    let error = if denied && status.allowed {
        Some(both.to_owned())
    } else {
        status.evaluation_error.filter(|error| !error.is_empty())
    };
    AuthorizerDecision {
        allowed: status.allowed && !denied,
        reason: status.reason.unwrap_or_default(),
        error,
    }
}

fn spec(question: &Question) -> SubjectAccessReviewSpec {
    let user = &question.user;
    let (resource, path) = match &question.subject {
        QuestionSubject::Resource(resource) => (Some(resource_of(&question.verb, resource)), None),
        QuestionSubject::Path(path) => {
            let attributes = NonResourceAttributes {
                path: some(path),
                verb: some(&question.verb),
            };
            (None, Some(attributes))
        }
    };
    SubjectAccessReviewSpec {
        user: some(&user.name),
        uid: some(&user.uid),
        groups: Some(user.groups.clone()).filter(|groups| !groups.is_empty()),
        extra: Some(user.extra.clone()).filter(|extra| !extra.is_empty()),
        resource_attributes: resource,
        non_resource_attributes: path,
    }
}

/// Selectors are read by the API server, which goes without those that are malformed.
fn resource_of(verb: &str, resource: &ResourceCheck) -> ResourceAttributes {
    ResourceAttributes {
        verb: some(verb),
        group: some(&resource.group),
        version: Some("*".to_owned()),
        resource: some(&resource.resource),
        subresource: some(&resource.subresource),
        namespace: some(&resource.namespace),
        name: some(&resource.name),
        field_selector: some(&resource.field_selector).map(|raw_selector| FieldSelectorAttributes {
            raw_selector: Some(raw_selector),
            requirements: None,
        }),
        label_selector: some(&resource.label_selector).map(|raw_selector| LabelSelectorAttributes {
            raw_selector: Some(raw_selector),
            requirements: None,
        }),
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

impl fmt::Debug for ReviewerInner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReviewerInner")
            .field("url", &self.reviews.url)
            .finish_non_exhaustive()
    }
}
