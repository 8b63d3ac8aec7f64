//! The inputs of an evaluation besides the request and its policies or webhooks.

use std::sync::Arc;

use pratique_cel::library::authz::Authorizer;
use pratique_cel::{Interrupt, MemoryLimit, Value};
use pratique_expression::OnUndecided;
use pratique_json as json;
use pratique_schema::Release;
use pratique_schema::merge::MergeSchema;
use pratique_types::GroupVersionKind;
use pratique_workers::Workers;

use crate::cluster::Cluster;
use crate::object_model::ObjectModel;
use crate::trace::PolicyTrace;

/// The inputs of an evaluation besides the request and its policies or webhooks.
#[derive(Clone)]
#[non_exhaustive]
pub struct EvalContext<'a> {
    /// The view of the cluster.
    pub cluster: &'a dyn Cluster,
    /// Answers the authorization checks of expressions.
    pub authorizer: Arc<dyn Authorizer>,
    /// Ends the evaluation early, if set.
    pub interrupt: Option<&'a Interrupt>,
    /// The bound on the memory of expressions.
    pub memory: Option<&'a MemoryLimit>,
    /// Observes the evaluation of policies.
    pub trace: Option<&'a dyn PolicyTrace>,
    /// Threads that share the work of many policies.
    pub workers: Option<&'a dyn Workers>,
    /// How policies and webhooks that depend on missing input are handled.
    pub on_undecided: OnUndecided,
    /// Defaults objects after they were changed.
    pub object_model: Option<&'a dyn ObjectModel>,
    /// The release of the server that evaluates.
    pub release: &'static Release,
    /// Whether the outcome has the object as it was prepared, of which a copy is made for it.
    pub keeps_prepared: bool,
}

impl<'a> EvalContext<'a> {
    /// Evaluation in a view of the cluster, with an authorizer for the checks of expressions.
    pub fn new(cluster: &'a dyn Cluster, authorizer: Arc<dyn Authorizer>) -> Self {
        EvalContext {
            cluster,
            authorizer,
            interrupt: None,
            memory: None,
            trace: None,
            workers: None,
            on_undecided: OnUndecided::default(),
            object_model: None,
            release: Release::latest(),
            keeps_prepared: true,
        }
    }

    /// Evaluates as a server of a release does; unless set, as one of the [latest](Release::latest).
    #[must_use]
    pub fn of_release(self, release: &'static Release) -> Self {
        EvalContext { release, ..self }
    }

    /// The schema by which objects of a kind are merged.
    pub fn merge_schema(&self, kind: &GroupVersionKind) -> &'a MergeSchema {
        let custom = self.cluster.custom_merge_schema(kind);
        custom.unwrap_or_else(|| self.release.merge_schema())
    }

    /// Sets how policies and webhooks that depend on missing input are handled.
    #[must_use]
    pub fn on_undecided(self, on_undecided: OnUndecided) -> Self {
        EvalContext { on_undecided, ..self }
    }

    /// Ends soon after `interrupt` is set, with [`UnfinishedEvaluation::Interrupted`](crate::UnfinishedEvaluation::Interrupted). Calls of
    /// webhooks end at its deadline.
    #[must_use]
    pub fn with_interrupt(self, interrupt: &'a Interrupt) -> Self {
        EvalContext {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// Bounds the memory of expressions, for each phase and each thread of the [workers](Self::with_workers), and that of
    /// calls of webhooks.
    #[must_use]
    pub fn with_memory(self, memory: &'a MemoryLimit) -> Self {
        EvalContext {
            memory: Some(memory),
            ..self
        }
    }

    /// Shares the work of many policies with other threads.
    #[must_use]
    pub fn with_workers(self, workers: &'a dyn Workers) -> Self {
        EvalContext {
            workers: Some(workers),
            ..self
        }
    }

    /// Whether other threads share the work.
    pub fn has_workers(&self) -> bool {
        self.workers.is_some()
    }

    /// Defaults objects after each change by this model.
    #[must_use]
    pub fn with_object_model(self, object_model: Option<&'a dyn ObjectModel>) -> Self {
        EvalContext { object_model, ..self }
    }

    /// Leaves the prepared object out of the outcome, where nothing looks at it.
    #[must_use]
    pub fn without_prepared(self) -> Self {
        EvalContext {
            keeps_prepared: false,
            ..self
        }
    }

    /// Has the evaluation of policies observed.
    #[must_use]
    pub fn with_trace(self, trace: &'a dyn PolicyTrace) -> Self {
        EvalContext {
            trace: Some(trace),
            ..self
        }
    }
}

/// A document of a built-in type, such as an object or a request, as the expressions of a server of a release see it.
// Upstream: apiserver/pkg/cel/common/valuesschemalesstyped.go, since 1.37; before, all objects were unstructured.
pub fn typed_value<'v>(release: &Release, document: &'v json::Value<'v>) -> Value<'v> {
    if release.at_least(1, 37) {
        Value::from_typed_json(document)
    } else {
        Value::from_json(document)
    }
}
