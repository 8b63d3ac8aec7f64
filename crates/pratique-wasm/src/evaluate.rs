//! Policies evaluated for a request, as `pratique review` does.

use pratique::AdmissionDecision;
use pratique::authorization::Authorizer;
use pratique_expansion::Expander;
use pratique_review::{
    PodExpansion, PodPolicies, PolicyRecord, Preparation, ReviewInput, Reviewer, WorkloadPods,
    reads_managed_fields,
};
use pratique_types::GroupResource;
use serde::Serialize;
use std::sync::Arc;

use crate::access;
use crate::cluster::GivenCluster;
use crate::decision_report::DecisionReport;
use crate::findings::Finding;
use crate::input;
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
    let policies = loaded.pod_policies();
    let pods = PodExpansion {
        release: cluster.gates.release(),
        expander: Expander::default(),
        mode: arguments.expand,
        policies: &policies,
        is_evaluated: loaded.has_evaluated_policies(),
    };
    let made_pods = pods.pods_of(&input.review, false);
    let workload = input.review.request.resource.group_resource();
    evaluation
        .notes
        .extend(unreviewed_pods(&made_pods, &policies, &workload));
    let mut decided = match engine.decide(input.review) {
        Ok(decided) => decided,
        Err(problem) => {
            evaluation.report.problems.push(*problem);
            return evaluation;
        }
    };
    if let Some(text) = &arguments.object {
        decided.report.locate_causes(text);
    }
    if let Err(problem) = engine.decide_pod((&pods, &made_pods), &mut decided) {
        evaluation.report.problems.push(*problem);
    }
    evaluation.decision = Some(Box::new(decided.report));
    evaluation
}

/// What there is to say of Pods that are not reviewed.
fn unreviewed_pods(
    pods: &WorkloadPods,
    policies: &PodPolicies<'_>,
    workload: &GroupResource,
) -> Option<String> {
    match pods {
        WorkloadPods::None | WorkloadPods::Evaluated(_) => None,
        WorkloadPods::NotEvaluated => {
            let blind = policies.not_matching(std::iter::once(workload));
            (!blind.is_empty()).then(|| {
                format!(
                    "the Pods of the workload are not reviewed, nor are the policies for Pods evaluated: {}",
                    blind.join(", ")
                )
            })
        }
        WorkloadPods::Custom(path) => Some(format!(
            "if a controller makes Pods of {path}, they are not reviewed: policies for Pods are evaluated for a Pod that is given"
        )),
    }
}

/// A decision, and its request as it was completed.
struct DecidedRequest {
    report: DecisionReport,
    input: ReviewInput<'static>,
    is_refused: bool,
}

/// What decides about requests.
struct DecisionEngine<'a> {
    arguments: &'a Evaluate,
    loaded: &'a LoadedPolicies,
    cluster: &'a GivenCluster,
    authorizer: Arc<dyn Authorizer>,
}

impl DecisionEngine<'_> {
    /// The decision on a request.
    fn decide(&self, mut input: ReviewInput<'static>) -> Result<DecidedRequest, Box<Finding>> {
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
        let is_refused = review.outcome.decision() == AdmissionDecision::Denied;
        let report = DecisionReport::new(review, &input);
        Ok(DecidedRequest {
            report,
            input,
            is_refused,
        })
    }

    /// Adds the decision on the Pod of a workload, if one is reviewed, to that on the workload.
    fn decide_pod(
        &self,
        (expansion, pods): (&PodExpansion<'_>, &WorkloadPods),
        decided: &mut DecidedRequest,
    ) -> Result<(), Box<Finding>> {
        let object = decided.report.object().unwrap_or(&decided.input.request.object);
        let pod = expansion
            .pod(pods, decided.is_refused, object, &decided.input)
            .map_err(|error| Box::new(Finding::plain("not-evaluated", error.to_string()).within("object")))?;
        let Some(pod) = pod else { return Ok(()) };
        let pod = pod.into_owned();
        let name = pod.name().to_owned();
        let of_pod = self.decide(pod)?;
        decided.report.add_pod(name, of_pod.report);
        Ok(())
    }
}
