//! Evaluates policies for the objects of record batches.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::ArrowError;
use pratique::authorization::{Authorizer, NoAuthorizer};
use pratique::{Admission, UnfinishedEvaluation};
use pratique_json::Value;
use pratique_manifest::convert::is_list;
use pratique_report::{Decision, Evaluation, owner_of, uid_of};
use pratique_request::{DEFAULT_NAMESPACE, DEFAULT_USER, RequestTemplate, kind_of, user};
use pratique_review::{GivenObject, GivenObjectError, Review, ReviewInput, Reviewer, read_decision};
use pratique_state::ClusterObjects;
use pratique_types::Operation;

use crate::input::{InputColumns, InputError, InputRow};
use crate::rows::{ResultRow, ResultRows, result_schema};

/// Evaluates policies for the objects of record batches. Webhooks and built-in plugins are not run.
///
/// The columns of a batch, of which others are ignored:
///
/// | column | type | |
/// |---|---|---|
/// | `object` | text | the object as JSON; null where it is deleted |
/// | `old_object` | text | the object before; null where it is created |
/// | `namespace` | text | the namespace of objects that name none |
/// | `user` | text | who sends the request |
/// | `groups` | list of text | the groups of the user, besides `system:authenticated` |
///
/// Without an old object a row is a creation, without an object a deletion, and with both an update. Text may be of any type
/// of Arrow, and a dictionary.
///
/// The results have the columns of [`result_schema`], and a row for each row. One that
/// is not JSON, has no kind, or is a list, is `failed`, with the reason as its message, and so is one that deletes or updates what a
/// server cannot have stored; what depends on something that was not given is `undecided`. An object that a server cannot decode, or has
/// no name, is `denied`, and warnings of the server itself, such as that about an unknown field, are findings without a policy. A field
/// that a server drops without a word is a finding of `dropped-field`.
#[derive(Clone)]
pub struct BatchEvaluator {
    admission: Arc<Admission>,
    authorizer: Arc<dyn Authorizer>,
    cluster: Arc<ClusterObjects>,
    are_complete: bool,
    /// For what a row does not say.
    template: RequestTemplate,
}

impl BatchEvaluator {
    /// Evaluates policies as a server of the newest release that is known does, for `kubernetes-admin` in `default` where a row names
    /// none. Of namespaces only the names are known, checks of permissions have no answer, and objects are completed with defaults.
    pub fn new(admission: Arc<Admission>) -> Self {
        let mut cluster = ClusterObjects::default();
        cluster.objects.assume_namespaces();
        BatchEvaluator {
            admission,
            authorizer: Arc::new(NoAuthorizer),
            cluster: Arc::new(cluster),
            are_complete: false,
            template: RequestTemplate {
                namespace: DEFAULT_NAMESPACE.to_owned(),
                user: user(DEFAULT_USER, &[]),
                ..RequestTemplate::default()
            },
        }
    }

    /// With what is known of a cluster: its release, its objects (namespaces, params), the resources and the custom resources that it
    /// serves. What matches the resource of a kind that is not known is undecided. The policies are those of the `Admission`, whose
    /// builder takes the release as well.
    #[must_use]
    pub fn with_cluster(self, cluster: ClusterObjects) -> Self {
        BatchEvaluator {
            cluster: Arc::new(cluster),
            ..self
        }
    }

    /// With answers to checks of permissions.
    #[must_use]
    pub fn with_authorizer(self, authorizer: Arc<dyn Authorizer>) -> Self {
        BatchEvaluator { authorizer, ..self }
    }

    /// Takes objects to be complete, as they are stored: nothing is set in them before policies see them.
    #[must_use]
    pub fn with_complete_objects(self) -> Self {
        BatchEvaluator {
            are_complete: true,
            ..self
        }
    }

    /// With other parameters of requests: the namespace of objects that name none, the user of rows that name none, and whether they
    /// are dry runs. Whether a row is a creation, an update or a deletion, it says itself.
    #[must_use]
    pub fn with_template(self, template: RequestTemplate) -> Self {
        BatchEvaluator { template, ..self }
    }

    /// Evaluates the rows of a batch.
    ///
    /// # Errors
    /// It has no objects, or a column is of a type that is not read.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<RecordBatch, InputError> {
        let columns = InputColumns::new(batch)?;
        let mut results = ResultRows::new();
        for row in 0..batch.num_rows() {
            self.push_result(&columns.row(row), row.saturating_add(1), &mut results);
        }
        Ok(results.take()?)
    }

    /// Evaluates batches as they are read: one is held at a time, and each has its results.
    pub fn stream<I>(self, batches: I) -> impl RecordBatchReader
    where
        I: IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    {
        let evaluate = move |batch: Result<RecordBatch, ArrowError>| {
            self.evaluate(&batch?).map_err(|error| match error {
                InputError::Arrow(error) => error,
                error => ArrowError::ExternalError(Box::new(error)),
            })
        };
        RecordBatchIterator::new(batches.into_iter().map(evaluate), result_schema())
    }

    /// Evaluates the `number`th row.
    fn push_result(&self, row: &InputRow<'_>, number: usize, results: &mut ResultRows) {
        let template = self.template_of(row);
        let user = template.user.username.clone();
        let mut subject = RowSubject::default();
        let review = self.review((row, number), template, &mut subject);
        let evaluation = Evaluation {
            operation: subject.operation,
            api_version: &subject.api_version,
            kind: &subject.kind,
            owner: &subject.owner,
            uid: &subject.uid,
            user: &user,
            ..Evaluation::default()
        };
        match review {
            Ok((input, review)) => push_review(&input, &review, evaluation, results),
            Err(error) => results.push(&ResultRow {
                evaluation: Evaluation {
                    decision: Decision::Failed,
                    ..evaluation
                },
                message: &error.to_string(),
                then: None,
            }),
        }
    }

    /// The parameters of a row's request, but for its operation.
    fn template_of(&self, row: &InputRow<'_>) -> RequestTemplate {
        let mut template = self.template.clone();
        if let Some(namespace) = &row.namespace {
            template.namespace.clone_from(namespace);
        }
        if row.user.is_some() || row.groups.is_some() {
            let name = row.user.as_ref().unwrap_or(&self.template.user.username);
            template.user = user(name, row.groups.as_deref().unwrap_or_default());
        }
        template
    }

    fn review<'v>(
        &self,
        (row, number): (&InputRow<'v>, usize),
        template: RequestTemplate,
        subject: &mut RowSubject,
    ) -> Result<(ReviewInput<'v>, Review), RowError> {
        let objects = (self.parse(row.object)?, self.parse(row.old_object)?);
        let (operation, object, old) = match objects {
            (Some(object), None) => (Operation::Create, object, None),
            (Some(object), Some(old)) => (Operation::Update, object, Some(old)),
            (None, Some(old)) => (Operation::Delete, old, None),
            (None, None) => return Err(RowError::NoObject),
        };
        *subject = RowSubject::new(operation, &object);
        let template = RequestTemplate {
            operation,
            ..template
        };
        let resolver = &self.cluster.resolver;
        // It is decoded as it is given: what its request has besides is the server's own.
        let decode = |object| GivenObject::decode(resolver.release(), object);
        let mut old = old.map(decode);
        let input = ReviewInput::from_object(decode(object), &template, resolver, |_, _| old.take(), number);
        let (mut input, _) = input?;
        let kinds = (!self.are_complete).then_some(&self.cluster.kinds);
        let review = Reviewer::policies(&self.admission, Arc::clone(&self.authorizer))
            // A row has no column for them.
            .without_explained_causes()
            .review(&self.cluster.objects, kinds, &mut input)?;
        Ok((input, review))
    }

    /// An object of a row, if there is one. Objects as they are stored are no lists, whatever their fields are.
    fn parse<'t>(&self, text: Option<&'t [u8]>) -> Result<Option<Value<'t>>, RowError> {
        let object = text.map(pratique_json::parse).transpose()?;
        if !self.are_complete && object.as_ref().is_some_and(is_list) {
            return Err(RowError::List);
        }
        Ok(object.filter(|object| !object.is_null()))
    }
}

impl std::fmt::Debug for BatchEvaluator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("BatchEvaluator").finish_non_exhaustive()
    }
}

/// What a row is about, also where there is no request for it.
#[derive(Default)]
struct RowSubject {
    operation: &'static str,
    api_version: String,
    kind: String,
    owner: String,
    uid: String,
}

impl RowSubject {
    fn new(operation: Operation, object: &Value<'_>) -> Self {
        let kind = kind_of(object).map(|kind| (kind.api_version(), kind.kind));
        let (api_version, kind) = kind.unwrap_or_default();
        RowSubject {
            operation: operation.as_str(),
            api_version,
            kind,
            owner: owner_of(object),
            uid: uid_of(object).to_owned(),
        }
    }
}

/// Why a row is not evaluated.
#[derive(Debug, thiserror::Error)]
enum RowError {
    #[error("it is not JSON: {0}")]
    Json(#[from] pratique_json::Error),
    #[error("the row has no object")]
    NoObject,
    #[error("it is a list, of which each object needs a row")]
    List,
    #[error(transparent)]
    Request(#[from] GivenObjectError),
    #[error("the request cannot be evaluated: {0}")]
    Unfinished(#[from] UnfinishedEvaluation),
}

/// Adds the review of a row.
fn push_review(
    input: &ReviewInput<'_>,
    review: &Review,
    evaluation: Evaluation<'_>,
    results: &mut ResultRows,
) {
    let outcome = &review.outcome;
    let undecided = outcome.undecided.iter();
    let undecided: Vec<String> = undecided.map(|undecided| undecided.missing.to_string()).collect();
    results.push(&ResultRow {
        evaluation: Evaluation {
            decision: read_decision(outcome).without_cause(),
            namespace: &input.request.namespace,
            name: &input.request.name,
            findings: review.findings(undecided.iter().map(String::as_str)),
            ..evaluation
        },
        message: outcome.status.as_ref().map_or("", |status| &status.message),
        then: None,
    });
}
