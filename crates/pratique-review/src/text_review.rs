//! The review of an object that somebody gives as a text, and of the Pod that a controller makes of it.

use std::sync::Arc;

use pratique::authorization::Authorizer;
use pratique::{AdmissionBuilder, AdmissionDecision, Objects};
use pratique_expansion::Expander;
use pratique_manifest::{ManifestFile, ManifestSet};
use pratique_schema::{FeatureGates, Release};
use pratique_state::{ServerRelease, TextCluster, invalid_text};

use crate::input::ReviewInput;
use crate::loaded_policies::LoadedPolicies;
use crate::plain_finding::PlainFinding;
use crate::pod_expansion::{PodExpansion, WorkloadPods};
use crate::policies::reads_managed_fields;
use crate::preparation::Preparation;
use crate::review_report::{PodReport, ReviewReport};
use crate::review_texts::{ReviewTexts, ReviewedTexts};
use crate::reviewer::{PolicyRecord, Reviewer};
use crate::sorted_objects::SortedPolicies;
use crate::text_request::OBJECT;

/// The review of texts that were read.
pub(crate) struct TextReview<'a> {
    pub(crate) texts: &'a ReviewTexts,
    pub(crate) policies: &'a LoadedPolicies,
    pub(crate) cluster: &'a TextCluster,
    pub(crate) authorizer: Arc<dyn Authorizer>,
}

impl ReviewTexts {
    /// Reviews the object. The server is of the release of `usual` where nothing says another. `builder` loads the policies;
    /// `inspect` sees those of files as they were written, in a server with some feature gates.
    pub fn review(
        &self,
        usual: &'static Release,
        builder: AdmissionBuilder,
        inspect: impl FnOnce(FeatureGates, &SortedPolicies, &[&ManifestSet]),
    ) -> ReviewedTexts {
        let mut reviewed = ReviewedTexts::default();
        let release = ServerRelease {
            usual,
            named: self.kubernetes_version.as_deref(),
            by: "kubernetesVersion",
        };
        // Policies are loaded as a server of the cluster's release does, and their problems come first.
        let (cluster, of_cluster) = TextCluster::read(&self.cluster, release);
        let builder = builder.feature_gates(cluster.gates);
        let inspect = |sorted: &SortedPolicies, sets: &[&ManifestSet]| inspect(cluster.gates, sorted, sets);
        let policies = LoadedPolicies::load(self, builder, &mut reviewed, inspect);
        reviewed.add_problems(&of_cluster);
        let request = self
            .read_request(&cluster)
            .map_err(|problems| reviewed.add_problems(&problems));
        let rules = ReviewTexts::make_text("authorizer", self.authorizer.as_ref());
        let authorizer = cluster.authorizer(rules.as_ref());
        let authorizer = authorizer.map_err(|problems| reviewed.add_problems(&problems));
        let (Some(policies), Ok(Some((input, note))), Ok(authorizer), true) =
            (&policies, request, authorizer, reviewed.problems.is_empty())
        else {
            return reviewed;
        };
        reviewed.notes.extend(cluster.version_note.clone());
        reviewed.notes.extend(note);
        let review = TextReview {
            texts: self,
            policies,
            cluster: &cluster,
            authorizer,
        };
        review.report(input, &mut reviewed);
        reviewed
    }
}

impl TextReview<'_> {
    /// Reviews a request, and the Pod of its workload where that is looked at.
    pub(crate) fn report(&self, input: ReviewInput<'static>, reviewed: &mut ReviewedTexts) {
        let policies = self.policies.pod_policies();
        let expansion = PodExpansion {
            release: self.cluster.gates.release(),
            expander: Expander::default(),
            mode: self.texts.expand,
            policies: &policies,
            is_evaluated: self.policies.is_evaluated(),
        };
        let pods = expansion.pods_of(&input, false);
        reviewed.notes.extend(expansion.unreviewed_note(&pods, &input));
        // The namespace of an object is assumed to exist; with a whole request, the cluster has all that exists.
        let view = self.cluster.view(self.texts.request.is_none());
        match self.decide(input, (&expansion, &pods), &view) {
            Ok((mut report, problem)) => {
                if let Some(file) = self.texts.object_file() {
                    report.locate_fields(&ManifestFile::from(&file));
                }
                reviewed.problems.extend(problem);
                reviewed.decision = Some(report);
            }
            Err(problem) => reviewed.problems.push(*problem),
        }
    }

    /// The decisions on a request and on the Pod of its workload; that on the Pod may be missing, which is a problem.
    fn decide(
        &self,
        input: ReviewInput<'static>,
        (expansion, pods): (&PodExpansion<'_>, &WorkloadPods),
        view: &Objects,
    ) -> Result<(ReviewReport, Option<PlainFinding>), Box<PlainFinding>> {
        let (input, mut report, is_refused) = self.decide_one(input, view)?;
        let object = report.object.as_ref().unwrap_or(&input.request.object);
        let pod = match expansion.pod(pods, is_refused, object, &input) {
            Ok(pod) => pod.map(ReviewInput::into_owned),
            Err(error) => {
                let location = invalid_text(OBJECT, "").location;
                let problem = PlainFinding::new(NOT_EVALUATED, error.to_string());
                return Ok((report, Some(PlainFinding { location, ..problem })));
            }
        };
        let Some(pod) = pod else { return Ok((report, None)) };
        let name = pod.name().to_owned();
        match self.decide_one(pod, view) {
            Ok((_, of_pod, _)) => report.pods.push(PodReport { name, report: of_pod }),
            Err(problem) => return Ok((report, Some(*problem))),
        }
        Ok((report, None))
    }

    /// The decision on a request, with the request as it was completed; and whether it is refused.
    fn decide_one(
        &self,
        mut input: ReviewInput<'static>,
        view: &Objects,
    ) -> Result<(ReviewInput<'static>, ReviewReport, bool), Box<PlainFinding>> {
        let sets = &self.policies.sets;
        let reviewer = Reviewer::policies(&self.policies.admission, Arc::clone(&self.authorizer))
            .recording(PolicyRecord::Explanation)
            .with_preparation(Preparation {
                records_defaults: true,
                ..Preparation::default()
            });
        let objects = (!self.texts.as_given).then(|| {
            let kinds = self.cluster.known.kinds.clone();
            kinds.with_managed_fields(reads_managed_fields(sets))
        });
        let review = reviewer.review(view, objects.as_ref(), &mut input);
        let mut review = review.map_err(|error| {
            let message = format!("the request cannot be evaluated: {error}");
            PlainFinding::new(NOT_EVALUATED, message)
        })?;
        if let Some(explanation) = &mut review.explanation {
            explanation.locate_in(sets);
        }
        let is_refused = review.outcome.decision() == AdmissionDecision::Denied;
        let report = ReviewReport::new(review, &input);
        Ok((input, report, is_refused))
    }
}

/// The rule of requests that cannot be evaluated to their end.
const NOT_EVALUATED: &str = "not-evaluated";
