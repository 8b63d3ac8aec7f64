//! Policies evaluated for a request, as `pratique review` does.

use pratique::authorization::Authorizer;
use pratique_review::{PolicyRecord, Preparation, Reviewer, reads_managed_fields};
use serde::Serialize;
use std::sync::Arc;

use crate::access;
use crate::cluster::GivenCluster;
use crate::decision_report::DecisionReport;
use crate::expansion::{DecidedRequest, ExpandedWorkload};
use crate::findings::Finding;
use crate::input::{self, RequestInput};
use crate::policies::{self, LoadReport, LoadedPolicies};
use crate::request::Evaluate;

/// The answer to an [`Evaluate`]: the problems of the inputs, or the decision.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    #[serde(flatten)]
    report: LoadReport,
    /// The assumptions that were made.
    notes: Vec<String>,
    /// The decision, and how it came about.
    #[serde(flatten)]
    decision: Option<Box<DecisionReport>>,
}

/// Evaluates a request.
pub(crate) fn evaluate(arguments: &Evaluate) -> Evaluation {
    let mut evaluation = Evaluation::default();
    let report = &mut evaluation.report;
    // Policies are loaded as a server of the cluster's release does, and their problems come first.
    let mut of_cluster = Vec::new();
    let version = arguments.kubernetes_version.as_deref();
    let cluster = GivenCluster::read(&arguments.cluster, version, &mut of_cluster);
    let loaded = policies::load(arguments, cluster.gates, report);
    report.problems.extend(of_cluster);
    let input = input::request(arguments, &cluster, &mut report.problems);
    let authorizer = access::authorizer(arguments.authorizer.as_deref(), &cluster).map_err(|problems| {
        report.problems.extend(problems);
    });
    let (Some(loaded), Some(input), Ok(authorizer), true) =
        (loaded, input, authorizer, report.problems.is_empty())
    else {
        return evaluation;
    };
    evaluation.notes.extend(cluster.version_note.clone());
    evaluation.notes.extend(input.notes.iter().cloned());
    let engine = DecisionEngine {
        arguments,
        loaded: &loaded,
        cluster: &cluster,
        authorizer,
    };
    let workload = ExpandedWorkload::new(&input, arguments.expand, &loaded);
    let mut decided = match engine.decide(input) {
        Ok(decided) => decided,
        Err(problem) => {
            evaluation.report.problems.push(*problem);
            return evaluation;
        }
    };
    if let Some(text) = &arguments.object {
        decided.report.locate_causes(text);
    }
    let of_pod = workload.map_or(Ok(()), |workload| workload.decide_pod(&engine, &mut decided));
    if let Err(problem) = of_pod {
        evaluation.report.problems.push(*problem);
    }
    evaluation.decision = Some(Box::new(decided.report));
    evaluation
}

/// What decides about requests.
pub(crate) struct DecisionEngine<'a> {
    arguments: &'a Evaluate,
    loaded: &'a LoadedPolicies,
    cluster: &'a GivenCluster,
    authorizer: Arc<dyn Authorizer>,
}

impl DecisionEngine<'_> {
    /// The decision on a request.
    pub(crate) fn decide(&self, input: RequestInput) -> Result<DecidedRequest, Box<Finding>> {
        let mut input = input.review;
        let reviewer = Reviewer::policies(&self.loaded.admission, Arc::clone(&self.authorizer))
            .recording(PolicyRecord::Explanation)
            .with_preparation(Preparation {
                records_defaults: true,
                ..Preparation::default()
            });
        let objects = (!self.arguments.as_given).then(|| {
            let manages = reads_managed_fields(&self.loaded.sets);
            self.cluster.known.kinds.clone().with_managed_fields(manages)
        });
        // The namespace of an object is assumed to exist; with a whole request, `cluster` has all that exists.
        let assumed = self.arguments.request.is_none();
        let namespace = assumed.then_some(input.request.namespace.as_str());
        let view = self.cluster.view(namespace);
        let review = reviewer.review(&view, objects.as_ref(), &mut input);
        let mut review = review.map_err(|error| {
            Finding::plain(
                "not-evaluated",
                format!("the request cannot be evaluated: {error}"),
            )
        })?;
        if let Some(explanation) = &mut review.explanation {
            for (origin, set) in &self.loaded.sets {
                explanation.locate(*origin, set);
            }
        }
        let request = input.request;
        let report = DecisionReport::new(review, &request);
        Ok(DecidedRequest { report, request })
    }
}
