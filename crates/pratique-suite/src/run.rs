//! Runs test cases.

use pratique::policy::PolicyObserver;
use pratique::{Admission, AdmissionContext, EvalContext, ObjectModel, Outcome};
use pratique_explain::{Explanation, Recorder};
use pratique_json::Value;
use pratique_policy::Trace;
use pratique_typed::decode;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};

use crate::actual::Actual;
use crate::authorizer::Rules;
use crate::chain::{Admitted, PluginState};
use crate::compare::{Difference, compare};
use crate::completion::refusal;
use crate::evaluated::Evaluated;
use crate::load::Policies;
use crate::policy_outcome::{DecisionRecorder, PolicyOutcomes};
use crate::request::{self, BuildError, RequestTemplate, kind_of, review};
use crate::runner::Runner;
use crate::stored_state::StoredState;
use crate::suite::{Case, Expected, Suite, TestInput};
use crate::unbound_matches::UnboundMatches;
use crate::whole_chain::ChainError;

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

/// What a case is evaluated with.
#[derive(Clone, Copy)]
struct With<'a> {
    policies: &'a Policies,
    admission: &'a Admission,
    /// What admission plugins see of the cluster, if there are any.
    state: Option<&'a PluginState>,
    trace: Option<&'a (dyn Trace + Sync)>,
}

impl Suite {
    /// Runs the cases, in their order.
    pub fn runner<'s>(&'s self, policies: &'s Policies) -> Runner<'s> {
        Runner::new(self, policies)
    }

    /// Runs a case; `trace` observes the evaluation. A [runner](Self::runner) is faster where a case depends on others.
    pub fn test(&self, case: &Case, policies: &Policies, trace: Option<&(dyn Trace + Sync)>) -> CaseResult {
        let mut runner = self.runner(policies);
        let before = self
            .cases
            .iter()
            .filter(|other| other.nodes.node == case.nodes.node);
        let before = before.take_while(|other| !std::ptr::eq(*other, case) && other.name != case.name);
        before.for_each(|other| runner.skip(other));
        runner.test(case, trace)
    }

    /// Evaluates a case only for what it leaves in the cluster.
    pub(crate) fn pass(&self, case: &Case, policies: &Policies, state: &mut PluginState) {
        let with = With::of(policies, Some(state));
        if let Ok(evaluated) = self.admit(case, with, &mut ()) {
            evaluated.apply(state);
        }
    }

    /// The result of a case. The state of the cluster is what the case leaves of it afterwards.
    pub(crate) fn result(
        &self,
        case: &Case,
        policies: &Policies,
        state: Option<&mut PluginState>,
        trace: Option<&(dyn Trace + Sync)>,
    ) -> CaseResult {
        let with = With::of(policies, state.as_deref());
        let evaluated = match self.only_unbound_match(case, with) {
            Some(error) => Err(error),
            None => self.admit(case, With { trace, ..with }, &mut ()),
        };
        let mut after = state.as_deref().cloned();
        if let (Ok(evaluated), Some(after)) = (&evaluated, &mut after) {
            evaluated.apply(after);
        }
        let mut actual = evaluated.map(Actual::new);
        if let (Ok(actual), Some(after)) = (&mut actual, &after) {
            actual.quotas = after.used_quotas();
        }
        let result = self.compared(case, with, actual);
        if let (Some(state), Some(after)) = (state, after) {
            *state = after;
        }
        result
    }

    fn compared(&self, case: &Case, with: With<'_>, mut actual: Result<Actual, String>) -> CaseResult {
        let policies = with.policies;
        let named = case.expected.as_ref().is_some_and(Expected::names_policies);
        if let (Ok(actual), true) = (&mut actual, named) {
            match self.outcomes(case, with) {
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
            (Ok(actual), Some(expected)) => {
                compare(&self.completed((case, policies), expected, actual), actual)
            }
            (Ok(_), None) => vec![Difference::nothing_expected()],
            (Err(_), _) => Vec::new(),
        };
        let explanation = (!differences.is_empty()).then(|| {
            let recorder = Recorder::new();
            // The second evaluation gives the same result.
            let trace = Some(&recorder as &(dyn Trace + Sync));
            let _ = self.admit(case, With { trace, ..with }, &mut ());
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
    pub fn decode_warnings(&self, case: &Case, policies: &Policies) -> Vec<String> {
        let expected = case.expected.as_ref();
        if expected.is_some_and(|expected| expected.warnings.is_some()) {
            return Vec::new();
        }
        let objects = self.cluster.objects.iter().chain(&case.input.cluster.objects);
        let snapshots = self.cluster.snapshots.iter().chain(&case.input.cluster.snapshots);
        let built = request(&case.input, objects, snapshots, policies.defined());
        built.map(|(_, warnings)| warnings).unwrap_or_default()
    }

    /// The error of a case whose request only policies without a binding match.
    fn only_unbound_match(&self, case: &Case, with: With<'_>) -> Option<String> {
        let matches = UnboundMatches::new(&with.policies.unbound);
        let as_if_bound = With {
            admission: with.policies.as_if_bound.as_ref()?,
            trace: Some(&matches),
            ..with
        };
        // Only the matches count: errors are reported by the evaluation of the bound policies.
        let _ = self.admit(case, as_if_bound, &mut ());
        matches.error()
    }

    /// What becomes of the request of a case in each policy and binding. Those that never match it are skipped.
    fn outcomes(&self, case: &Case, with: With<'_>) -> Result<PolicyOutcomes, String> {
        let (recorder, mut decisions) = (Recorder::new(), DecisionRecorder::default());
        let traced = With {
            trace: Some(&recorder),
            ..with
        };
        let evaluated = self.admit(case, traced, &mut decisions)?;
        let mut outcomes = PolicyOutcomes::new(&evaluated.outcome, &recorder.explanation(), &decisions);
        outcomes.complete(with.policies.sets.iter().map(|(_, set)| set));
        Ok(outcomes)
    }

    /// Evaluates a case's request.
    fn admit(
        &self,
        case: &Case,
        with: With<'_>,
        observer: &mut (dyn PolicyObserver + Send),
    ) -> Result<Evaluated, String> {
        let With {
            policies,
            admission,
            state,
            trace,
        } = with;
        let of_case = &case.input.cluster;
        let objects = || self.cluster.objects.iter().chain(&of_case.objects);
        let snapshots = || self.cluster.snapshots.iter().chain(&of_case.snapshots);
        let built = request(&case.input, objects(), snapshots(), policies.defined());
        let (mut request, mut warnings) = built.map_err(|error| error.to_string())?;
        let api_objects = self.api_objects(case, policies)?;
        let managed = policies.reads_managed_fields;
        let api_objects = api_objects.map(|objects| objects.with_managed_fields(managed));
        let is_sent = case.input.request.is_some();
        if self.is_unstructured {
            request.form = ObjectForm::Unstructured;
        }
        let as_given = request.object.clone();
        let received = match api_objects.as_ref().filter(|_| !is_sent) {
            Some(objects) => match objects.receive(&mut request) {
                Ok(received) => Some(received),
                Err(refused) => return Ok(Evaluated::refused(refusal(refused), request)),
            },
            None => None,
        };
        if let Some(received) = &received {
            warnings.extend_from_slice(received.unknown_fields());
            warnings.extend_from_slice(received.warnings());
        }
        let mut cluster = policies.cluster(objects());
        snapshots().for_each(|snapshot| snapshot.apply(&mut cluster));
        let given = [of_case.rules.as_ref(), self.cluster.rules.as_ref()];
        let rules = given.iter().copied().flatten().flatten().cloned();
        let has_rules = given.iter().any(Option::is_some);
        let rules = has_rules.then(|| Rules(rules.collect()));
        let authorizer = policies.authorizer(rules, objects(), snapshots());
        let model = received.as_ref().map(|received| received as &dyn ObjectModel);
        let of_server = api_objects.as_ref().map(|objects| objects as &dyn ObjectModel);
        let model = model.or(of_server);
        let evaluated = match &policies.whole_chain {
            Some(chain) => {
                let mut context = AdmissionContext::new(&cluster).with_authorizer(authorizer);
                context.trace = trace;
                if let Some(state) = state {
                    context = context.with_plugins(state.inputs());
                }
                let scripts = case.input.webhooks.iter().chain(self.webhooks.iter().flatten());
                let scripts = scripts.cloned().collect();
                chain.run(
                    scripts,
                    admission,
                    (&request, &as_given),
                    model,
                    context,
                    observer,
                )
            }
            None => {
                let mut context = EvalContext::new(&cluster, authorizer).with_object_model(model);
                context.trace = trace.map(|trace| trace as &dyn Trace);
                let outcome = admission.admit_policies(&request, context, observer);
                let admitted = outcome.map(|outcome| Admitted {
                    outcome,
                    steps: Vec::new(),
                    object: Value::Null,
                });
                admitted.map_err(ChainError::from)
            }
        };
        let Admitted {
            mut outcome,
            steps,
            object,
        } = evaluated.map_err(|error| error.to_string())?;
        outcome.warnings.splice(0..0, warnings);
        Ok(Evaluated {
            outcome,
            request,
            steps,
            stored: object,
        })
    }
}

impl<'a> With<'a> {
    fn of(policies: &'a Policies, state: Option<&'a PluginState>) -> Self {
        With {
            policies,
            admission: &policies.admission,
            state,
            trace: None,
        }
    }
}

impl Evaluated {
    /// A request that the server refused before admission.
    fn refused(outcome: Outcome, request: AdmissionRequest<'static>) -> Self {
        Evaluated {
            outcome,
            request,
            steps: Vec::new(),
            stored: Value::Null,
        }
    }

    /// Carries out what the request changes in the cluster.
    fn apply(&self, state: &mut PluginState) {
        state.apply(&self.request, &self.stored, &self.outcome);
    }
}

/// Why a case has no request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
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
pub(crate) fn request<'o>(
    input: &TestInput,
    objects: impl Iterator<Item = &'o Value<'static>>,
    snapshots: impl Iterator<Item = &'o StoredState>,
    of_cluster: &[ServedResource],
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
    let mut defined = request::defined(objects);
    let served = snapshots.flat_map(|snapshot| &snapshot.served);
    defined.extend(served.filter(|served| served.subresource.is_empty()).cloned());
    defined.extend_from_slice(of_cluster);
    let made = template.request(object.clone(), |_, _| stored(), &defined, 1);
    let request = made.map_err(|error| match error {
        BuildError::UnknownKind(_) => RequestError::Kind(error.to_string()),
        BuildError::NoOldObject => RequestError::Other(format!("{error}: give it as oldObject")),
        BuildError::SeveralResources(_) => RequestError::Other(format!("{error}: name one as `resource`")),
        BuildError::OtherResource { .. } | BuildError::Subresource(_) => {
            RequestError::Other(error.to_string())
        }
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
