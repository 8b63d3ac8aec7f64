//! Evaluates policies for the objects of record batches.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pratique::api_objects::ApiObjects;
use pratique::authorization::{Authorizer, NoAuthorizer};
use pratique::{
    Admission, AdmissionDecision, AdmissionRequest, FeatureGates, Objects, Release, ReleaseError,
    UnfinishedEvaluation,
};
use pratique_json::Value;
use pratique_manifest::convert::is_list;
use pratique_report::{Decision, Evaluation, owner_of, uid_of};
use pratique_request::{RequestTemplate, ResourceResolver, kind_of, options};
use pratique_review::{GivenObject, GivenObjectError, Review, ReviewInput, Reviewer};
use pratique_types::Operation;

use crate::input::{InputColumns, InputError};
use crate::rows::{ResultRow, ResultRows, result_schema};

/// The user of requests whose row names none.
const USER: &str = "kubernetes-admin";
/// The namespace of objects that name none.
const NAMESPACE: &str = "default";

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
    cluster: Arc<Objects>,
    authorizer: Arc<dyn Authorizer>,
    objects: Option<ApiObjects>,
    resolver: ResourceResolver,
    /// Those of the server, if they were set.
    gates: Option<FeatureGates>,
    namespace: String,
    user: String,
    groups: Vec<String>,
}

impl BatchEvaluator {
    /// Evaluates policies. Of namespaces only the names are known, checks of permissions have no answer, and objects are
    /// completed with defaults as an API server does.
    pub fn new(admission: Arc<Admission>) -> Self {
        let mut cluster = Objects::new();
        cluster.assume_namespaces();
        BatchEvaluator {
            admission,
            cluster: Arc::new(cluster),
            authorizer: Arc::new(NoAuthorizer),
            objects: Some(ApiObjects::default()),
            resolver: ResourceResolver::default(),
            gates: None,
            namespace: NAMESPACE.to_owned(),
            user: USER.to_owned(),
            groups: Vec::new(),
        }
    }

    /// With the objects of a cluster: namespaces and params.
    #[must_use]
    pub fn cluster(self, cluster: Objects) -> Self {
        let cluster = match self.gates {
            Some(gates) => cluster.with_release(gates.release()),
            None => cluster,
        };
        BatchEvaluator {
            cluster: Arc::new(cluster),
            ..self
        }
    }

    /// With answers to checks of permissions.
    #[must_use]
    pub fn authorizer(self, authorizer: Arc<dyn Authorizer>) -> Self {
        BatchEvaluator { authorizer, ..self }
    }

    /// With other kinds of objects, such as custom resources; `None` where objects are complete, as they are stored.
    #[must_use]
    pub fn objects(self, objects: Option<ApiObjects>) -> Self {
        let of_server = |objects: ApiObjects| match self.gates {
            Some(gates) => objects.with_gates(gates),
            None => objects,
        };
        BatchEvaluator {
            objects: objects.map(of_server),
            ..self
        }
    }

    /// With the resources of a cluster besides those of Kubernetes. What matches the resource of a kind that is not known is
    /// undecided.
    #[must_use]
    pub fn resolver(self, resolver: ResourceResolver) -> Self {
        let resolver = match self.gates {
            Some(gates) => resolver.with_release(gates.release()),
            None => resolver,
        };
        BatchEvaluator { resolver, ..self }
    }

    /// As a server of a release decodes objects, serves kinds and sets defaults, such as `1.37`; by default it is of the newest that
    /// is known. The policies are those of the `Admission`, whose builder takes the release as well.
    ///
    /// # Errors
    /// The release is not known.
    pub fn kubernetes_version(self, version: &str) -> Result<Self, ReleaseError> {
        let release = Release::by_version(version)?;
        Ok(self.feature_gates(FeatureGates::new(release)))
    }

    /// As a server of a release with some feature gates does.
    #[must_use]
    pub fn feature_gates(self, gates: FeatureGates) -> Self {
        BatchEvaluator {
            gates: Some(gates),
            cluster: Arc::new(Arc::unwrap_or_clone(self.cluster).with_release(gates.release())),
            objects: self.objects.map(|objects| objects.with_gates(gates)),
            resolver: self.resolver.with_release(gates.release()),
            ..self
        }
    }

    /// With another namespace for objects that name none.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        let namespace = namespace.into();
        BatchEvaluator { namespace, ..self }
    }

    /// With another user for rows that name none.
    #[must_use]
    pub fn user(self, user: impl Into<String>, groups: Vec<String>) -> Self {
        BatchEvaluator {
            user: user.into(),
            groups,
            ..self
        }
    }

    /// The release of the server.
    fn release(&self) -> &'static Release {
        let gates = self
            .gates
            .or_else(|| self.objects.as_ref().map(ApiObjects::gates));
        gates.unwrap_or_default().release()
    }

    /// The columns of results.
    pub fn schema(&self) -> SchemaRef {
        result_schema()
    }

    /// Evaluates the rows of a batch.
    ///
    /// # Errors
    /// It has no objects, or a column is of a type that is not read.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<RecordBatch, InputError> {
        let columns = InputColumns::new(batch)?;
        let mut results = ResultRows::new();
        for row in 0..batch.num_rows() {
            self.row(&columns, row, &mut results);
        }
        Ok(results.take()?)
    }

    /// Evaluates batches as they are read: one is held at a time.
    pub fn stream<I>(self, batches: I) -> Results<I::IntoIter>
    where
        I: IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    {
        Results {
            evaluator: self,
            batches: batches.into_iter(),
        }
    }

    fn row(&self, columns: &InputColumns<'_>, row: usize, results: &mut ResultRows) {
        let user = columns.user(row).unwrap_or_else(|| self.user.clone());
        let object = columns.object.as_ref().and_then(|column| column.get(row));
        let old = columns.old_object.as_ref().and_then(|column| column.get(row));
        let parsed = self
            .parsed(object)
            .and_then(|object| Ok((object, self.parsed(old)?)));
        let change = parsed.and_then(|(object, old)| match (object, old) {
            (Some(object), None) => Ok((Operation::Create, object, None)),
            (Some(object), Some(old)) => Ok((Operation::Update, object, Some(old))),
            (None, Some(old)) => Ok((Operation::Delete, old, None)),
            (None, None) => Err(RowError::NoObject),
        });
        let (operation, object, old) = match change {
            Ok(change) => change,
            Err(error) => return failed(&error, &Evaluation::default(), &user, results),
        };
        let (owner, uid) = (owner_of(&object), uid_of(&object).to_owned());
        let template = RequestTemplate {
            operation,
            namespace: columns.namespace(row).unwrap_or_else(|| self.namespace.clone()),
            user: pratique_request::user(&user, columns.groups(row).as_deref().unwrap_or(&self.groups)),
            options: Some(options(operation, false)),
            ..RequestTemplate::default()
        };
        let kind = kind_of(&object).map(|kind| (kind.api_version(), kind.kind));
        let (api_version, kind) = kind.unwrap_or_default();
        let evaluation = Evaluation {
            operation: operation.as_str(),
            api_version: &api_version,
            kind: &kind,
            owner: &owner,
            uid: &uid,
            ..Evaluation::default()
        };
        // It is decoded as it is given: what its request has besides is the server's own.
        let given = GivenObject::decode(self.release(), object);
        let mut old = old.map(|old| GivenObject::decode(self.release(), old));
        let number = row.saturating_add(1);
        let input = ReviewInput::from_object(given, &template, &self.resolver, |_, _| old.take(), number);
        let review = input
            .map_err(RowError::from)
            .and_then(|(input, _)| self.review(input));
        match review {
            Ok((request, review)) => push_review(&request, &review, &evaluation, &user, results),
            Err(error) => failed(&error, &evaluation, &user, results),
        }
    }

    /// An object of a row, if there is one. Objects as they are stored are no lists, whatever their fields are.
    fn parsed<'t>(&self, text: Option<&'t [u8]>) -> Result<Option<Value<'t>>, RowError> {
        let object = text.map(pratique_json::parse).transpose()?;
        if self.objects.is_some() && object.as_ref().is_some_and(is_list) {
            return Err(RowError::List);
        }
        Ok(object.filter(|object| !object.is_null()))
    }

    fn review<'v>(&self, mut input: ReviewInput<'v>) -> Result<(AdmissionRequest<'v>, Review), RowError> {
        let reviewer = Reviewer::policies(&self.admission, Arc::clone(&self.authorizer));
        // A row has no column for them.
        let reviewer = reviewer.without_explained_causes();
        let review = reviewer.review(&self.cluster, self.objects.as_ref(), &mut input)?;
        Ok((input.request, review))
    }
}

impl std::fmt::Debug for BatchEvaluator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("BatchEvaluator").finish_non_exhaustive()
    }
}

/// The results of batches, one for each.
#[derive(Debug)]
pub struct Results<I> {
    evaluator: BatchEvaluator,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Results<I> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.batches.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        let results = self.evaluator.evaluate(&batch);
        Some(results.map_err(|error| match error {
            InputError::Arrow(error) => error,
            error => ArrowError::ExternalError(Box::new(error)),
        }))
    }
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> RecordBatchReader for Results<I> {
    fn schema(&self) -> SchemaRef {
        result_schema()
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

fn failed(error: &RowError, evaluation: &Evaluation<'_>, user: &str, results: &mut ResultRows) {
    results.push(&ResultRow {
        evaluation: Evaluation {
            decision: Decision::Failed,
            user,
            ..evaluation.clone()
        },
        message: &error.to_string(),
        then: None,
    });
}

/// Adds the review of a row.
fn push_review(
    request: &AdmissionRequest<'_>,
    review: &Review,
    evaluation: &Evaluation<'_>,
    user: &str,
    results: &mut ResultRows,
) {
    let outcome = &review.outcome;
    let undecided: Vec<String> = outcome
        .undecided
        .iter()
        .map(|undecided| undecided.missing.to_string())
        .collect();
    results.push(&ResultRow {
        evaluation: Evaluation {
            decision: match outcome.decision() {
                AdmissionDecision::Allowed => Decision::Allowed,
                AdmissionDecision::Denied => Decision::Denied,
                AdmissionDecision::Undecided => Decision::Undecided,
            },
            namespace: &request.namespace,
            name: &request.name,
            user,
            findings: review.findings(undecided.iter().map(String::as_str)),
            ..evaluation.clone()
        },
        message: outcome.status.as_ref().map_or("", |status| &status.message),
        then: None,
    });
}
