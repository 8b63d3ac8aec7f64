//! What the expressions of a policy, and the nodes in them, do over requests.

mod observed_run;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use pratique_cel::Value;
use pratique_cel::ast::{Ast, ExprId};
use pratique_cel::value::Evaluation;
use pratique_expression::Cache;
use pratique_policy::{ExpressionId, PolicyTrace};
use pratique_schema::Release;
use pratique_types::AdmissionRequest;
use pratique_types::cel_limits::{MessageFault, read_message};

use crate::footprint::ReadFootprint;
use crate::policy::Policy;

pub use observed_run::ObservedRun;
use observed_run::{RunKind, variable_name};

/// A policy whose expressions are observed, each by its place in [`Policy::expressions`].
#[derive(Debug)]
pub struct ObservedPolicy {
    ids: Vec<ExpressionId>,
    runs: Vec<ObservedRun>,
    cache: Cache,
}

/// The outcomes of the nodes of a policy's expressions, over several requests.
#[derive(Debug, Default)]
pub struct NodeCoverage {
    /// By expression and node.
    expressions: Vec<Vec<NodeOutcomes>>,
}

/// The outcomes of a node of an expression.
#[derive(Clone, Debug, Default)]
pub struct NodeOutcomes {
    /// The number of evaluations that gave a value.
    pub values: u32,
    /// The number of evaluations that failed, by error.
    pub errors: BTreeMap<String, u32>,
}

/// What a run of a policy does with one request.
#[derive(Debug)]
pub struct PolicyObservation {
    /// The outcomes of the policy's expressions.
    pub outcomes: Vec<ExpressionOutcome>,
    /// Those of their nodes.
    nodes: Vec<NodeRecorder>,
}

/// The outcome of an expression for one request.
#[derive(Clone, Debug)]
pub enum ExpressionOutcome {
    /// It was not evaluated, or nothing uses its value.
    Unused,
    /// It has a value.
    Value,
    /// It is a message, and its value is none that the server uses.
    UnusedMessage(MessageFault),
    /// It is the message of a validation that holds: why the server would not use its value, if something is wrong with that.
    IdleMessage(Option<MessageFault>),
    /// It failed.
    Failed(ExpressionFailure),
}

/// Why an expression failed.
#[derive(Clone, Debug)]
pub struct ExpressionFailure {
    /// The expression that has the node that failed: the evaluated one, or a variable that it reads.
    pub expression: usize,
    /// The node that failed.
    pub node: ExprId,
    /// The error.
    pub text: String,
    /// The other nodes of the expression that failed in this evaluation, with their errors.
    pub others: Vec<(ExprId, String)>,
}

impl NodeOutcomes {
    /// Adds the outcomes of other evaluations.
    pub fn add(&mut self, other: &NodeOutcomes) {
        self.values = self.values.saturating_add(other.values);
        for (text, count) in &other.errors {
            let total = self.errors.entry(text.clone()).or_default();
            *total = total.saturating_add(*count);
        }
    }

    /// Whether the node was evaluated at all.
    pub fn is_evaluated(&self) -> bool {
        self.values > 0 || !self.errors.is_empty()
    }
}

impl NodeCoverage {
    /// The outcomes of a node of an expression.
    pub fn node(&self, expression: usize, node: ExprId) -> Option<&NodeOutcomes> {
        let outcomes = self.expressions.get(expression)?.get(node.0 as usize)?;
        outcomes.is_evaluated().then_some(outcomes)
    }

    /// Adds the outcomes of other evaluations.
    pub fn merge(&mut self, other: &NodeCoverage) {
        if self.expressions.len() < other.expressions.len() {
            self.expressions.resize_with(other.expressions.len(), Vec::new);
        }
        for (nodes, others) in self.expressions.iter_mut().zip(&other.expressions) {
            if nodes.len() < others.len() {
                nodes.resize_with(others.len(), NodeOutcomes::default);
            }
            nodes
                .iter_mut()
                .zip(others)
                .for_each(|(node, other)| node.add(other));
        }
    }

    /// About how many bytes of memory they take.
    pub fn owned_bytes(&self) -> usize {
        let nodes = self.expressions.iter().flatten();
        let errors = nodes.clone().flat_map(|node| node.errors.keys());
        let texts: usize = errors.map(|text| size_of::<String>() + text.len()).sum();
        nodes.count() * size_of::<NodeOutcomes>() + texts
    }

    /// Adds what a run does with a number of requests, with all of them the same.
    pub fn add(&mut self, observation: &PolicyObservation, requests: u32) {
        let recorders = &observation.nodes;
        if self.expressions.len() < recorders.len() {
            self.expressions.resize_with(recorders.len(), Vec::new);
        }
        for (expression, recorder) in self.expressions.iter_mut().zip(recorders) {
            let failed = recorder.errors.iter().map(|(node, _)| node.0 as usize + 1);
            let nodes = failed.fold(recorder.values.len(), usize::max);
            if expression.len() < nodes {
                expression.resize_with(nodes, NodeOutcomes::default);
            }
            for (outcomes, values) in expression.iter_mut().zip(&recorder.values) {
                outcomes.values = outcomes.values.saturating_add(values.saturating_mul(requests));
            }
            for (node, text) in &recorder.errors {
                if let Some(outcomes) = expression.get_mut(node.0 as usize) {
                    let count = outcomes.errors.entry(text.clone()).or_default();
                    *count = count.saturating_add(requests);
                }
            }
        }
    }
}

impl ObservedPolicy {
    /// A policy of a release. The trees are those of its expressions, as far as they can be parsed.
    pub fn new(release: &'static Release, policy: Policy<'_>, trees: &[Option<Ast>]) -> Self {
        let ids: Vec<ExpressionId> = policy
            .expressions()
            .into_iter()
            .map(|expression| expression.id)
            .collect();
        let run = |kind: RunKind, index: usize| ObservedRun::new(policy, (kind, index), &ids, trees);
        let runs = match policy {
            Policy::Validating(policy) => {
                let spec = policy.spec.as_ref();
                let validations = spec
                    .and_then(|spec| spec.validations.as_ref())
                    .map_or(0, Vec::len);
                let is_annotated = ids.iter().any(|id| matches!(id, ExpressionId::Annotation(_)));
                let rest = (is_annotated || validations == 0).then(|| run(RunKind::Annotations, 0));
                let validations = (0..validations).map(|index| run(RunKind::Validation, index));
                validations.chain(rest).collect()
            }
            Policy::Mutating(policy) => {
                let count = policy
                    .spec
                    .as_ref()
                    .and_then(|spec| Some(spec.mutations.as_ref()?.len()));
                let mutations = 0..count.unwrap_or_default().max(1);
                mutations.map(|index| run(RunKind::Mutation, index)).collect()
            }
        };
        ObservedPolicy {
            ids,
            runs,
            cache: Cache::new().of_release(release),
        }
    }

    /// Its runs.
    pub fn runs(&self) -> &[ObservedRun] {
        &self.runs
    }

    /// The trees of a run's expressions in order; those with a name are variables of that name.
    pub fn run_trees<'t>(
        &'t self,
        run: &'t ObservedRun,
        trees: &'t [Option<Ast>],
    ) -> impl Iterator<Item = (Option<&'t str>, &'t Ast)> + Clone {
        let site = |site: &usize| Some((variable_name(self.ids.get(*site)?), trees.get(*site)?.as_ref()?));
        run.sites.iter().filter_map(site)
    }

    /// What requests about a kind that a run evaluates alike have in common; `None` if none is known to be. The trees are those of the
    /// policy's expressions, as far as they can be parsed.
    pub fn footprint(&self, run: &ObservedRun, kind: &str, trees: &[Option<Ast>]) -> Option<ReadFootprint> {
        // What comes of a mutation depends on all of the object.
        if run.kind == RunKind::Mutation {
            return None;
        }
        Some(ReadFootprint::new(kind, self.run_trees(run, trees)))
    }

    /// Evaluates the expressions of a run that a server would evaluate for a request; the authorizer allows every check, or none.
    pub fn evaluate(
        &self,
        run: &ObservedRun,
        request: &AdmissionRequest<'_>,
        allowed: bool,
    ) -> PolicyObservation {
        let recorder = OutcomeRecorder::new(&self.ids, run.index);
        run.runner(&self.cache).run(request, allowed, &recorder);
        let state = recorder.into_state();
        PolicyObservation {
            outcomes: state.outcomes,
            nodes: state.nodes,
        }
    }
}

/// Records the outcomes of one request.
struct OutcomeRecorder<'i> {
    ids: &'i [ExpressionId],
    /// The index of the only validation or mutation, which is the first one of its run.
    index: usize,
    state: RefCell<RecorderState>,
}

#[derive(Default)]
struct RecorderState {
    /// The stack of expressions under evaluation.
    open: Vec<OpenExpression>,
    /// By expression.
    nodes: Vec<NodeRecorder>,
    outcomes: Vec<ExpressionOutcome>,
    /// The validations that are false.
    denied: Vec<usize>,
    is_excluded: bool,
}

struct OpenExpression {
    id: ExpressionId,
    /// `None` for what is not recorded: the message of a validation that holds, and the variables that it reads.
    index: Option<usize>,
    /// The expression, if it is the message of a validation that holds: only its value is recorded.
    idle_message: Option<usize>,
    nodes: NodeRecorder,
}

impl<'i> OutcomeRecorder<'i> {
    fn new(ids: &'i [ExpressionId], index: usize) -> Self {
        let state = RecorderState {
            nodes: ids.iter().map(|_| NodeRecorder::default()).collect(),
            outcomes: vec![ExpressionOutcome::Unused; ids.len()],
            ..RecorderState::default()
        };
        OutcomeRecorder {
            ids,
            index,
            state: RefCell::new(state),
        }
    }

    fn into_state(self) -> RecorderState {
        let mut state = self.state.into_inner();
        if state.is_excluded {
            // A false condition takes precedence over conditions that fail.
            state.outcomes.fill(ExpressionOutcome::Unused);
        }
        state
    }

    /// Of two variables with the same name, expressions read the later.
    fn find(&self, id: &ExpressionId) -> Option<usize> {
        self.ids.iter().rposition(|known| known == id)
    }

    /// The origin of an error: a variable that the expression reads, if that failed.
    fn failure(
        &self,
        state: &RecorderState,
        index: usize,
        nodes: &NodeRecorder,
        text: String,
    ) -> ExpressionFailure {
        let variable =
            failed_variable(&text).and_then(|name| self.find(&ExpressionId::Variable(name.to_owned())));
        if let Some(ExpressionOutcome::Failed(failure)) =
            variable.and_then(|variable| state.outcomes.get(variable))
        {
            return failure.clone();
        }
        ExpressionFailure {
            expression: index,
            node: nodes.first_with(&text).unwrap_or(ExprId(0)),
            others: nodes.others_than(&text),
            text,
        }
    }
}

/// The variable whose failure gives an error.
fn failed_variable(error: &str) -> Option<&str> {
    let rest = error.strip_prefix("composited variable \"")?;
    Some(rest.split_once("\" fails to evaluate: ")?.0)
}

impl PolicyTrace for OutcomeRecorder<'_> {
    fn begin(&self, id: ExpressionId<&str>, _: &str) {
        let mut state = self.state.borrow_mut();
        let id = match id {
            ExpressionId::Mutation(_) => ExpressionId::Mutation(self.index),
            ExpressionId::Validation(_) => ExpressionId::Validation(self.index),
            ExpressionId::Message(_) => ExpressionId::Message(self.index),
            id => id.to_owned(),
        };
        // All message expressions are evaluated, for the budget: those of validations that hold have no effect.
        let is_without_effect = matches!(id, ExpressionId::Message(at) if !state.denied.contains(&at));
        let is_within = state.open.last().is_some_and(|outer| outer.index.is_none());
        let known = if is_within { None } else { self.find(&id) };
        state.open.push(OpenExpression {
            id,
            index: known.filter(|_| !is_without_effect),
            idle_message: known.filter(|_| is_without_effect),
            nodes: NodeRecorder::default(),
        });
    }

    fn value(&self, node: ExprId, value: &Evaluation<'_>) {
        if let Some(open) = self.state.borrow_mut().open.last_mut() {
            open.nodes.add(node, value);
        }
    }

    fn end(&self, result: &Evaluation<'_>, _: u64) {
        let mut state = self.state.borrow_mut();
        let Some(OpenExpression {
            id,
            index,
            idle_message,
            nodes,
        }) = state.open.pop()
        else {
            return;
        };
        match (&id, result) {
            (ExpressionId::Condition(_), Ok(Value::Bool(false))) => state.is_excluded = true,
            (ExpressionId::Validation(at), Ok(Value::Bool(false))) => state.denied.push(*at),
            _ => {}
        }
        let fault = match (&id, result) {
            (ExpressionId::Message(_), Ok(Value::String(text))) => read_message(text).err(),
            _ => None,
        };
        if let Some(known) = idle_message.and_then(|message| state.outcomes.get_mut(message))
            && result.is_ok()
        {
            *known = ExpressionOutcome::IdleMessage(fault);
        }
        let Some(index) = index else { return };
        let outcome = match result {
            Ok(_) => fault.map_or(ExpressionOutcome::Value, ExpressionOutcome::UnusedMessage),
            Err(fault) => ExpressionOutcome::Failed(self.failure(&state, index, &nodes, fault.to_string())),
        };
        if let Some(known) = state.outcomes.get_mut(index) {
            *known = outcome;
        }
        if let Some(known) = state.nodes.get_mut(index) {
            known.merge(nodes);
        }
    }
}

/// The outcomes of the nodes of an expression.
#[derive(Debug, Default)]
struct NodeRecorder {
    /// The number of values by node. Nodes are numbered from 0, and there is an event for each in each evaluation.
    values: Vec<u32>,
    /// Errors in the order of evaluation: inner ones first.
    errors: Vec<(ExprId, String)>,
}

impl NodeRecorder {
    fn add(&mut self, node: ExprId, value: &Evaluation<'_>) {
        match value {
            Ok(_) => {
                let index = node.0 as usize;
                if self.values.len() <= index {
                    self.values.resize(index + 1, 0);
                }
                if let Some(count) = self.values.get_mut(index) {
                    *count = count.saturating_add(1);
                }
            }
            Err(fault) => self.errors.push((node, fault.to_string())),
        }
    }

    fn merge(&mut self, other: NodeRecorder) {
        if self.values.len() < other.values.len() {
            self.values.resize(other.values.len(), 0);
        }
        for (count, values) in self.values.iter_mut().zip(other.values) {
            *count = count.saturating_add(values);
        }
        self.errors.extend(other.errors);
    }

    /// The nodes that failed with other errors, inner ones first.
    fn others_than(&self, text: &str) -> Vec<(ExprId, String)> {
        let mut seen = BTreeSet::from([text]);
        let errors = self.errors.iter();
        let others = errors.filter(|(_, error)| seen.insert(error));
        others.cloned().collect()
    }

    fn first_with(&self, text: &str) -> Option<ExprId> {
        let mut errors = self.errors.iter();
        errors.find(|(_, error)| error == text).map(|(node, _)| *node)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use k8s_openapi::api::admissionregistration::v1 as api;
    use pratique_types::Operation;
    use serde_json::json;

    use super::*;
    use crate::complete::{NamedFields, RequiredConstants, SampleObjects, SampleSpec, SelectedMetadata};

    /// Observations by the run, the shape of what is read of a kind, and the key of a request.
    type AlikeKinds = HashMap<(usize, String, String), String>;

    /// Counts the requests of a policy's runs, and those of them that are told apart, which the runs have to evaluate alike, as they
    /// have to evaluate those of other kinds.
    fn count_told_apart(
        variables: &[&str],
        validations: &[&str],
        resource: &str,
        of_kinds: &mut AlikeKinds,
    ) -> (usize, usize) {
        let variables = variables.iter().enumerate();
        let variables: Vec<_> = variables
            .map(|(at, text)| json!({"name": format!("v{at}"), "expression": text}))
            .collect();
        let validations: Vec<_> = validations
            .iter()
            .map(
                |text| json!({"expression": text, "messageExpression": "object.kind + object.metadata.name"}),
            )
            .collect();
        let spec = json!({
            "matchConstraints": {"resourceRules": []}, "variables": variables, "validations": validations,
        });
        let policy = json!({"metadata": {"name": "p"}, "spec": spec});
        let policy: api::ValidatingAdmissionPolicy = serde_json::from_value(policy).unwrap();
        let policy = Policy::Validating(&policy);
        let environment = pratique_cel::Environment::kubernetes();
        let expressions = policy.expressions();
        let trees: Vec<Option<Ast>> = expressions
            .iter()
            .map(|expression| environment.parse(expression.text).ok())
            .collect();
        assert!(trees.iter().all(Option::is_some));
        let named = expressions.iter().zip(&trees);
        let named = named.filter_map(|(expression, tree)| match &expression.id {
            ExpressionId::Variable(name) => Some((Some(name.as_str()), tree.as_ref()?)),
            _ => Some((None, tree.as_ref()?)),
        });
        let interest = NamedFields::new(named);
        let release = Release::latest();
        let served = release.resources().named(resource).unwrap();
        let spec = SampleSpec {
            release,
            served,
            operations: &[Operation::Create, Operation::Update, Operation::Delete],
            interest: &interest,
            selected: &SelectedMetadata::default(),
            required: &RequiredConstants::default(),
            footprints: &[],
            is_mutating: false,
            most: 400,
        };
        let objects = SampleObjects::new(&spec);
        let observed = ObservedPolicy::new(release, policy, &trees);
        let (mut requests, mut apart) = (0, 0);
        for run in observed.runs() {
            let footprint = observed.footprint(run, &served.kind.kind, &trees).unwrap();
            let mut known: HashMap<String, String> = HashMap::new();
            for input in objects.inputs(&spec) {
                let observation = observed.evaluate(run, &input.request(&spec), input.allows);
                let observation = format!("{observation:?}");
                let same = known
                    .entry(footprint.key(&input))
                    .or_insert_with(|| observation.clone());
                assert_eq!(*same, observation, "{input:?}");
                if let Some(shape) = footprint.shape() {
                    let key = (run.index, shape, footprint.key(&input));
                    let same = of_kinds.entry(key).or_insert_with(|| observation.clone());
                    assert_eq!(*same, observation, "{resource} {input:?}");
                }
                requests += 1;
            }
            apart += known.len();
        }
        (requests, apart)
    }

    #[test]
    fn requests_with_one_key_are_evaluated_alike() {
        let containers = "object.kind == 'Pod' ? object.spec.containers + (has(object.spec.initContainers) ? \
            object.spec.initContainers : []) : object.spec.template.spec.containers";
        for (variables, validations) in [
            (
                vec![containers],
                vec!["variables.v0.all(c, has(c.securityContext) && c.securityContext.privileged != true)"],
            ),
            (
                vec!["object.metadata.?labels.orValue({})"],
                vec![
                    "variables.v0.all(k, k.startsWith('a') || variables.v0[k] == 'b')",
                    "'a/b' in variables.v0",
                ],
            ),
            (
                vec![],
                vec![
                    "object.spec.replicas < 3 || request.operation == 'DELETE'",
                    "oldObject == null || object.spec.replicas == oldObject.spec.replicas",
                    "authorizer.group('').resource('pods').check('get').allowed() || object.metadata.name == 'a'",
                ],
            ),
            (
                vec!["object.spec.template.spec.containers.map(c, c.resources.limits.cpu)"],
                vec![
                    "variables.v0.exists(q, quantity(q).isGreaterThan(quantity('1'))) && object.spec.size() > 3",
                ],
            ),
            (
                vec![],
                vec!["object.spec.?selector.?matchLabels['app'].optMap(a, a == 'b').orValue(false)"],
            ),
        ] {
            let mut of_kinds = AlikeKinds::new();
            let mut of_each = 0;
            for resource in ["pods", "deployments", "replicasets", "daemonsets"] {
                let (requests, apart) = count_told_apart(&variables, &validations, resource, &mut of_kinds);
                of_each += apart;
                assert!(
                    apart * 3 < requests * 2,
                    "{validations:?} {resource}: {apart} of {requests}"
                );
            }
            let of_kinds = of_kinds.len();
            assert!(of_kinds < of_each, "{validations:?}: {of_kinds} of {of_each}");
        }
    }
}
