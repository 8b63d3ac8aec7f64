//! Runs test cases.

use std::sync::Arc;

use pratique::authorization::{Authorizer, NoAuthorizer};
use pratique::{Admission, EvalContext};
use pratique_explain::{Explanation, Recorder};
use pratique_json::Value;
use pratique_policy::Trace;
use pratique_rbac::{Completeness, RbacAuthorizer, is_rbac};
use pratique_typed::decode;
use pratique_types::{AdmissionRequest, Operation};

use crate::actual::Actual;
use crate::authorizer::Rules;
use crate::compare::{Difference, compare};
use crate::load::Policies;
use crate::request::cluster::cluster;
use crate::request::{self, BuildError, RequestTemplate, kind_of, review};
use crate::suite::{Case, Suite, TestInput};
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
        let actual = match self.only_unbound_match(case, policies) {
            Some(error) => Err(error),
            None => self.evaluate(case, &policies.admission, trace),
        };
        let differences = match (&actual, &case.expected) {
            (Ok(actual), Some(expected)) => compare(expected, actual),
            (Ok(_), None) => vec![Difference::nothing_expected()],
            (Err(_), _) => Vec::new(),
        };
        let explanation = (!differences.is_empty()).then(|| {
            let recorder = Recorder::new();
            // The second evaluation gives the same result.
            let _ = self.evaluate(case, &policies.admission, Some(&recorder));
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
        let _ = self.evaluate(case, admission, Some(&matches));
        matches.error()
    }

    fn evaluate(
        &self,
        case: &Case,
        admission: &Admission,
        trace: Option<&dyn Trace>,
    ) -> Result<Actual, String> {
        let of_case = &case.input.cluster;
        let objects = || self.cluster.objects.iter().chain(&of_case.objects);
        let (request, warnings) = request(&case.input, objects()).map_err(|error| error.to_string())?;
        let cluster = cluster(objects(), [request.namespace.as_str()]);
        let given = [&of_case.rules, &self.cluster.rules];
        let rules = given.iter().copied().flatten().flatten().cloned();
        let authorizer: Arc<dyn Authorizer> = match given {
            [None, None] => match objects().any(is_rbac) {
                // Those of a suite are all there are.
                true => Arc::new(RbacAuthorizer::new(objects().collect(), Completeness::Complete)),
                false => Arc::new(NoAuthorizer),
            },
            _ => Arc::new(Rules(rules.collect())),
        };
        let context = EvalContext::new(&cluster, authorizer);
        let context = match trace {
            Some(trace) => context.with_trace(trace),
            None => context,
        };
        let evaluated = admission.admit_policies(&request, context, &mut ());
        let mut outcome = evaluated.map_err(|error| error.to_string())?;
        outcome.warnings.splice(0..0, warnings);
        Ok(Actual::new(outcome, &request))
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
