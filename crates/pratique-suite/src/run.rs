//! Runs test cases.

use pratique::policy::PolicyObserver;
use pratique::{Admission, AdmissionContext, Outcome};
use pratique_explain::{Explanation, ExplanationRecorder};
use pratique_json::Value;
use pratique_policy::PolicyTrace;
use pratique_types::{AdmissionRequest, ObjectForm};

use crate::actual::ActualResult;
use crate::case_error::CaseError;
use crate::compare::{Difference, compare};
use crate::evaluated_request::EvaluatedRequest;
use crate::load::Policies;
use crate::policy_outcome::{DecisionRecorder, PolicyOutcomes};
use crate::runner::Runner;
use crate::suite::{Case, ExpectedResult, Suite};
use crate::unbound_matches::UnboundMatches;
use pratique_review::Reviewer;
use pratique_review::chain::AdmittedRequest;
use pratique_state::{PluginState, every_cluster};

/// The result of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The actual result; or why the request could not be evaluated.
    pub actual: Result<ActualResult, CaseError>,
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

/// The policies and the state that a case is evaluated with.
#[derive(Clone, Copy)]
struct CaseContext<'a> {
    policies: &'a Policies,
    admission: &'a Admission,
    /// The state that admission plugins look up, if there are any.
    state: Option<&'a PluginState>,
    trace: Option<&'a (dyn PolicyTrace + Sync)>,
}

impl Suite {
    /// Runs the cases, in their order.
    pub fn runner<'s>(&'s self, policies: &'s Policies) -> Runner<'s> {
        Runner::new(self, policies)
    }

    /// Runs a case; `trace` observes the evaluation. A [runner](Self::runner) is faster where a case depends on others.
    pub fn test(
        &self,
        case: &Case,
        policies: &Policies,
        trace: Option<&(dyn PolicyTrace + Sync)>,
    ) -> CaseResult {
        let mut runner = self.runner(policies);
        let sibling_cases = self
            .cases
            .iter()
            .filter(|other| other.nodes.node == case.nodes.node);
        let earlier_cases =
            sibling_cases.take_while(|other| !std::ptr::eq(*other, case) && other.name != case.name);
        earlier_cases.for_each(|other| runner.skip(other));
        runner.test(case, trace)
    }

    /// Evaluates a case only for the changes that it makes in the cluster.
    pub(crate) fn apply(&self, case: &Case, policies: &Policies, state: &mut PluginState) {
        let context = CaseContext::new(policies, Some(state));
        if let Ok(evaluated) = self.admit(case, context, &mut ()) {
            evaluated.apply(state);
        }
    }

    /// The result of a case. Its changes are applied to the state of the cluster.
    pub(crate) fn result(
        &self,
        case: &Case,
        policies: &Policies,
        state: Option<&mut PluginState>,
        trace: Option<&(dyn PolicyTrace + Sync)>,
    ) -> CaseResult {
        let context = CaseContext::new(policies, state.as_deref());
        let evaluated = match self.only_unbound_match(case, context) {
            Some(error) => Err(error),
            None => self.admit(case, CaseContext { trace, ..context }, &mut ()),
        };
        let mut after = state.as_deref().cloned();
        if let (Ok(evaluated), Some(after)) = (&evaluated, &mut after) {
            evaluated.apply(after);
        }
        let mut actual = evaluated.map(ActualResult::new);
        if let (Ok(actual), Some(after)) = (&mut actual, &after) {
            actual.quotas = after.used_quotas();
        }
        let result = self.compared(case, context, actual);
        if let (Some(state), Some(after)) = (state, after) {
            *state = after;
        }
        result
    }

    fn compared(
        &self,
        case: &Case,
        context: CaseContext<'_>,
        mut actual: Result<ActualResult, CaseError>,
    ) -> CaseResult {
        let policies = context.policies;
        let named = case.expected.as_ref().is_some_and(ExpectedResult::names_policies);
        if let (Ok(actual), true) = (&mut actual, named) {
            match self.outcomes(case, context) {
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
            let recorder = ExplanationRecorder::new();
            // The second evaluation gives the same result.
            let trace = Some(&recorder as &(dyn PolicyTrace + Sync));
            let _ = self.admit(case, CaseContext { trace, ..context }, &mut ());
            let mut explanation = recorder.explanation();
            explanation.locate_in(&policies.sets);
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
        let kinds = self.kinds(case, policies.of_case(self, case));
        let decoded = kinds.and_then(|kinds| self.decoded_request(case, &kinds));
        decoded
            .ok()
            .and_then(|input| input.received.ok())
            .unwrap_or_default()
    }

    /// The error of a case whose request only policies without a binding match.
    fn only_unbound_match(&self, case: &Case, context: CaseContext<'_>) -> Option<CaseError> {
        let matches = UnboundMatches::new(&context.policies.unbound);
        let as_if_bound = CaseContext {
            admission: context.policies.as_if_bound.as_ref()?,
            trace: Some(&matches),
            ..context
        };
        // Only the matches count: errors are reported by the evaluation of the bound policies.
        let _ = self.admit(case, as_if_bound, &mut ());
        matches.error()
    }

    /// The outcome of the request of a case in each policy and binding. Those that never match it are skipped.
    fn outcomes(&self, case: &Case, context: CaseContext<'_>) -> Result<PolicyOutcomes, CaseError> {
        let (recorder, mut decisions) = (ExplanationRecorder::new(), DecisionRecorder::default());
        let traced = CaseContext {
            trace: Some(&recorder),
            ..context
        };
        let evaluated = self.admit(case, traced, &mut decisions)?;
        let mut outcomes = PolicyOutcomes::new(&evaluated.outcome, &recorder.explanation(), &decisions);
        outcomes.complete(context.policies.sets.iter().map(|(_, set)| set));
        Ok(outcomes)
    }

    /// Evaluates a case's request.
    fn admit(
        &self,
        case: &Case,
        context: CaseContext<'_>,
        observer: &mut (dyn PolicyObserver + Send),
    ) -> Result<EvaluatedRequest, CaseError> {
        let CaseContext {
            policies,
            admission,
            state,
            trace,
        } = context;
        let kinds = self.kinds(case, policies)?;
        let mut input = self.decoded_request(case, &kinds)?;
        let managed = policies.reads_managed_fields;
        let api_objects = kinds.completed().cloned();
        let api_objects = api_objects.map(|objects| objects.with_managed_fields(managed));
        if self.is_unstructured {
            input.request.form = ObjectForm::Unstructured;
        }
        let as_sent = input.request.object.clone();
        let prepared = self.preparation().prepare(&mut input, api_objects.as_ref());
        if let Some(refused) = prepared.refusal(&input) {
            return Ok(EvaluatedRequest::refused(
                input.with_warnings(refused),
                input.request,
            ));
        }
        let mut cluster = policies.cluster(self.objects(case));
        self.snapshots(case)
            .for_each(|snapshot| snapshot.apply(&mut cluster));
        if self.has_all_objects(case) {
            every_cluster::add_missing(&mut cluster);
        }
        let authorizer = policies.authorizer(self.rules(case), self.objects(case), self.snapshots(case));
        let Some(chain) = &policies.whole_chain else {
            let reviewer = Reviewer::policies(admission, authorizer);
            let trace = trace.map(|trace| trace as &dyn PolicyTrace);
            let outcome = reviewer.observe(&cluster, &input, &prepared, trace, observer)?;
            return Ok(EvaluatedRequest {
                outcome,
                request: input.request,
                steps: Vec::new(),
                stored: Value::Null,
            });
        };
        let mut entered = state.cloned();
        if let Some(state) = &mut entered {
            state.enter(&input.request.namespace);
        }
        let mut context = AdmissionContext::new(&cluster).with_authorizer(authorizer);
        context.trace = trace;
        if let Some(state) = &entered {
            context = context.with_plugins(state.inputs());
        }
        let scripts = case.input.webhooks.iter().chain(self.webhooks.iter().flatten());
        let scripts = scripts.cloned().collect();
        let asked = (&input.request, &as_sent);
        let (AdmittedRequest { outcome, steps }, stored) =
            chain.run(scripts, admission, asked, prepared.model(), context, observer)?;
        Ok(EvaluatedRequest {
            outcome: input.with_warnings(outcome),
            request: input.request,
            steps,
            stored,
        })
    }
}

impl<'a> CaseContext<'a> {
    fn new(policies: &'a Policies, state: Option<&'a PluginState>) -> Self {
        CaseContext {
            policies,
            admission: &policies.admission,
            state,
            trace: None,
        }
    }
}

impl EvaluatedRequest {
    /// A request that the server refused before admission.
    fn refused(outcome: Outcome, request: AdmissionRequest<'static>) -> Self {
        EvaluatedRequest {
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
