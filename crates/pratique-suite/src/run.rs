//! Runs test cases.

use pratique::policy::PolicyObserver;
use pratique::{Admission, EvalContext, ObjectModel, Outcome};
use pratique_explain::{Explanation, Recorder};
use pratique_json::Value;
use pratique_policy::Trace;
use pratique_typed::decode;
use pratique_types::{AdmissionRequest, Operation};

use crate::actual::Actual;
use crate::authorizer::{Rules, authorizer_of};
use crate::compare::{Difference, compare};
use crate::completion::refusal;
use crate::load::Policies;
use crate::policy_outcome::{DecisionRecorder, PolicyOutcomes};
use crate::request::cluster::cluster;
use crate::request::{self, BuildError, RequestTemplate, kind_of, review};
use crate::suite::{Case, Expected, Suite, TestInput};
use crate::unbound_matches::UnboundMatches;

/// What came of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The actual result; or why the request could not be evaluated.
    pub actual: Result<Actual, String>,
    /// The differences between expected and actual results.
    pub differences: Vec<Difference>,
    /// The explanation of the decision, if there are differences.
    pub explanation: Option<Explanation>,
}

impl CaseResult {
    /// Whether the actual result is as expected.
    pub fn passed(&self) -> bool {
        self.actual.is_ok() && self.differences.is_empty()
    }
}

impl Suite {
    /// Runs a case; `trace` observes the evaluation.
    pub fn test(&self, case: &Case, policies: &Policies, trace: Option<&dyn Trace>) -> CaseResult {
        let mut actual = match self.only_unbound_match(case, policies) {
            Some(error) => Err(error),
            None => self.evaluate(case, policies, &policies.admission, trace),
        };
        let named = case.expected.as_ref().is_some_and(Expected::names_policies);
        if let (Ok(actual), true) = (&mut actual, named) {
            match self.outcomes(case, policies) {
                Ok(outcomes) => actual.outcomes = outcomes,
                Err(error) => {
                    return CaseResult {
                        actual: Err(error),
                        differences: Vec::new(),
                        explanation: None,
                    };
                }
            }
        }
        let differences = match (&actual, &case.expected) {
            (Ok(actual), Some(expected)) => compare(&self.completed(case, expected, actual), actual),
            (Ok(_), None) => vec![Difference::nothing_expected()],
            (Err(_), _) => Vec::new(),
        };
        let explanation = (!differences.is_empty()).then(|| {
            let recorder = Recorder::new();
            // The second evaluation gives the same result.
            let _ = self.evaluate(case, policies, &policies.admission, Some(&recorder));
            let mut explanation = recorder.explanation();
            for (origin, set) in &policies.sets {
                explanation.locate(*origin, set);
            }
            explanation
        });
        CaseResult {
            actual,
            differences,
            explanation,
        }
    }

    /// The warnings that a server gives when it decodes the object of a case, unless the case expects warnings: a test
    /// with a misspelt field may pass without testing anything.
    pub fn decode_warnings(&self, case: &Case) -> Vec<String> {
        let expected = case.expected.as_ref();
        if expected.is_some_and(|expected| expected.warnings.is_some()) {
            return Vec::new();
        }
        let objects = self.cluster.objects.iter().chain(&case.input.cluster.objects);
        let built = request(&case.input, objects);
        built.map(|(_, warnings)| warnings).unwrap_or_default()
    }

    /// The error of a case whose request only policies without a binding match.
    fn only_unbound_match(&self, case: &Case, policies: &Policies) -> Option<String> {
        let matches = UnboundMatches::new(&policies.unbound);
        let admission = policies.as_if_bound.as_ref()?;
        // Only the matches count: errors are reported by the evaluation of the bound policies.
        let _ = self.evaluate(case, policies, admission, Some(&matches));
        matches.error()
    }

    /// What becomes of the request of a case in each policy and binding. Those that never match it are skipped.
    fn outcomes(&self, case: &Case, policies: &Policies) -> Result<PolicyOutcomes, String> {
        let (recorder, mut decisions) = (Recorder::new(), DecisionRecorder::default());
        let (outcome, _) = self.admit(
            case,
            policies,
            &policies.admission,
            Some(&recorder),
            &mut decisions,
        )?;
        let mut outcomes = PolicyOutcomes::new(&outcome, &recorder.explanation(), &decisions);
        outcomes.complete(policies.sets.iter().map(|(_, set)| set));
        Ok(outcomes)
    }

    fn evaluate(
        &self,
        case: &Case,
        policies: &Policies,
        admission: &Admission,
        trace: Option<&dyn Trace>,
    ) -> Result<Actual, String> {
        let (outcome, request) = self.admit(case, policies, admission, trace, &mut ())?;
        Ok(Actual::new(outcome, &request))
    }

    /// The outcome of a case's request.
    fn admit(
        &self,
        case: &Case,
        policies: &Policies,
        admission: &Admission,
        trace: Option<&dyn Trace>,
        observer: &mut dyn PolicyObserver,
    ) -> Result<(Outcome, AdmissionRequest<'static>), String> {
        let of_case = &case.input.cluster;
        let objects = || self.cluster.objects.iter().chain(&of_case.objects);
        let (mut request, mut warnings) =
            request(&case.input, objects()).map_err(|error| error.to_string())?;
        let api_objects = self.api_objects(case)?;
        let managed = policies.reads_managed_fields;
        let api_objects = api_objects.map(|objects| objects.with_managed_fields(managed));
        let is_sent = case.input.request.is_some();
        let received = match api_objects.as_ref().filter(|_| !is_sent) {
            Some(objects) => match objects.receive(&mut request) {
                Ok(received) => Some(received),
                Err(refused) => return Ok((refusal(refused), request)),
            },
            None => None,
        };
        if let Some(received) = &received {
            warnings.extend_from_slice(received.unknown_fields());
            warnings.extend_from_slice(received.warnings());
        }
        let cluster = cluster(objects(), [request.namespace.as_str()]);
        let given = [of_case.rules.as_ref(), self.cluster.rules.as_ref()];
        let rules = given.iter().copied().flatten().flatten().cloned();
        let has_rules = given.iter().any(Option::is_some);
        let rules = has_rules.then(|| Rules(rules.collect()));
        let authorizer = authorizer_of(rules, objects());
        let model = received.as_ref().map(|received| received as &dyn ObjectModel);
        let of_server = api_objects.as_ref().map(|objects| objects as &dyn ObjectModel);
        let context = EvalContext::new(&cluster, authorizer).with_object_model(model.or(of_server));
        let context = match trace {
            Some(trace) => context.with_trace(trace),
            None => context,
        };
        let evaluated = admission.admit_policies(&request, context, observer);
        let mut outcome = evaluated.map_err(|error| error.to_string())?;
        outcome.warnings.splice(0..0, warnings);
        Ok((outcome, request))
    }
}

/// Why a case has no request.
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("{0}")]
    Envelope(String),
    #[error("{0}: name its resource, or give its CustomResourceDefinition among the cluster's objects")]
    Kind(String),
    /// A server rejects the object before admission.
    #[error("the server refuses the object, and no policy sees it: {0}")]
    Undecodable(String),
    #[error("{0}")]
    Other(String),
}

/// The request of a case, and the warnings that a server gives when it decodes the object.
fn request<'o>(
    input: &TestInput,
    objects: impl Iterator<Item = &'o Value<'static>>,
) -> Result<(AdmissionRequest<'static>, Vec<String>), RequestError> {
    if let Some(request) = &input.request {
        let request = review::decode(request).map_err(RequestError::Envelope)?;
        return Ok((request, Vec::new()));
    }
    let operation = input.operation.unwrap_or(match input.old_object {
        Some(_) => Operation::Update,
        None => Operation::Create,
    });
    let template = RequestTemplate {
        operation,
        namespace: input.namespace.clone().unwrap_or_else(|| "default".to_owned()),
        name: None,
        resource: input.resource.clone(),
        subresource: input.subresource.clone().unwrap_or_default(),
        user: input
            .user
            .clone()
            .unwrap_or_else(|| request::user("kubernetes-admin", &[])),
        dry_run: input.dry_run,
        options: input.options.clone(),
    };
    let stored = || input.old_object.clone();
    let object = input.object.clone().or_else(stored).unwrap_or_default();
    let defined = request::defined(objects);
    let made = template.request(object.clone(), |_, _| stored(), &defined, 1);
    let request = made.map_err(|error| match error {
        BuildError::UnknownKind(_) => RequestError::Kind(error.to_string()),
        BuildError::NoOldObject => RequestError::Other(format!("{error}: give it as oldObject")),
        BuildError::OtherResource { .. } => RequestError::Other(error.to_string()),
        BuildError::NoKind(why) => RequestError::Other(why),
    })?;
    let received = |object: &Value<'static>| match kind_of(object) {
        Ok(kind) => decode::received(&kind, object).map_err(RequestError::Undecodable),
        // There is no object.
        Err(_) => Ok(Vec::new()),
    };
    received(&request.old_object)?;
    let warnings = received(&request.object)?;
    Ok((request, warnings))
}
