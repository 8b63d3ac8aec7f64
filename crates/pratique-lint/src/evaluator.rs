//! Evaluates the expressions of a policy over requests, and records the outcome of each subexpression.

mod variables;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use pratique_cel::ast::ExprId;
use pratique_cel::library::authz::{Authorizer, FixedAuthorizer};
use pratique_cel::value::Evaluation;
use pratique_cel::{Activation, Arena, Context, EvaluationObserver, Fault, Value};
use pratique_expression::{Authorizers, Cache, Composition, Expression, Use, request_value, slots};
use pratique_json as json;
use pratique_types::cel_limits::PER_CALL_LIMIT;

use crate::samples::Sample;
use crate::subject::Site;
use variables::Variables;

/// The expressions of a policy, compiled.
pub(crate) struct SiteEvaluator<'m> {
    sites: &'m [Site<'m>],
    /// `None` for expressions that do not compile.
    expressions: Vec<Option<Arc<Expression>>>,
}

/// The outcomes of subexpressions, by site and node.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    sites: Vec<HashMap<ExprId, NodeOutcomes>>,
}

/// The outcomes of a subexpression.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeOutcomes {
    /// The number of evaluations that gave a value.
    pub(crate) values: u32,
    /// The number of evaluations that failed, by error.
    pub(crate) errors: BTreeMap<String, u32>,
}

impl NodeOutcomes {
    /// Adds the outcomes of other evaluations.
    pub(crate) fn add(&mut self, other: &NodeOutcomes) {
        self.values = self.values.saturating_add(other.values);
        for (text, count) in &other.errors {
            let total = self.errors.entry(text.clone()).or_default();
            *total = total.saturating_add(*count);
        }
    }

    /// Whether it was evaluated at all.
    pub(crate) fn is_evaluated(&self) -> bool {
        self.values > 0 || !self.errors.is_empty()
    }
}

/// The outcome of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It was not evaluated, or no other expression read it.
    Unused,
    /// It has a value.
    Value,
    /// It failed.
    Failed(Failure),
}

/// Why an expression failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The expression that contains the failed node: the evaluated one, or a variable that it reads.
    pub(crate) site: usize,
    /// The failed node.
    pub(crate) node: ExprId,
    /// The error.
    pub(crate) text: String,
}

impl<'m> SiteEvaluator<'m> {
    pub(crate) fn new(sites: &'m [Site<'m>]) -> Self {
        let cache = Cache::new();
        let mut composition = Composition::new(&cache);
        let mut expressions = Vec::with_capacity(sites.len());
        for site in sites {
            let compiled = match site.variable() {
                Some(name) => composition.variable(name, site.text, site.declarations),
                None => composition.compile(site.text, site.usage, site.declarations),
            };
            expressions.push(compiled.ok());
        }
        SiteEvaluator { sites, expressions }
    }

    /// Evaluates the expressions that a server would evaluate for a request.
    pub(crate) fn evaluate(&self, sample: &Sample, coverage: &mut Coverage) -> Vec<Outcome> {
        let request = &sample.request;
        let arena = Arena::new();
        let request_json = request_value(request, &request.name, &request.resource, &request.kind);
        let namespace = namespace(&request.namespace);
        let no_params = json::Value::Null;
        let host: Arc<dyn Authorizer> = Arc::new(FixedAuthorizer {
            allowed: sample.allows,
        });
        let authorizers = Authorizers::new(&arena, request, &request.name, &host);
        let mut activation = slots().activation();
        activation.set(slots().object, Value::from_json(&request.object));
        activation.set(slots().old_object, Value::from_json(&request.old_object));
        activation.set(slots().request, Value::from_json(&request_json));
        activation.set(slots().params, Value::from_json(&no_params));
        activation.set(slots().authorizer, authorizers.authorizer);
        activation.set(slots().request_resource, authorizers.request_resource);
        let variables = Variables::new(self.sites);
        let mut run = Run {
            evaluator: self,
            arena: &arena,
            variables: &variables,
            recorders: self.sites.iter().map(|_| NodeRecorder::default()).collect(),
            outcomes: self.sites.iter().map(|_| Outcome::Unused).collect(),
        };
        if run.conditions(&activation) {
            activation.set(slots().namespace_object, Value::from_json(&namespace));
            run.rest(activation);
        }
        let Run {
            recorders, outcomes, ..
        } = run;
        coverage.add(recorders);
        outcomes
    }
}

impl Coverage {
    /// The outcomes of a subexpression over all requests.
    pub(crate) fn of(&self, site: usize, node: ExprId) -> Option<&NodeOutcomes> {
        self.sites.get(site)?.get(&node)
    }

    fn add(&mut self, recorders: Vec<NodeRecorder>) {
        if self.sites.len() < recorders.len() {
            self.sites.resize_with(recorders.len(), HashMap::new);
        }
        for (site, recorder) in self.sites.iter_mut().zip(recorders) {
            for (node, outcomes) in recorder.outcomes {
                site.entry(node).or_default().add(&outcomes);
            }
        }
    }
}

/// The evaluations of one request.
struct Run<'s> {
    evaluator: &'s SiteEvaluator<'s>,
    arena: &'s Arena,
    variables: &'s Variables<'s>,
    recorders: Vec<NodeRecorder>,
    outcomes: Vec<Outcome>,
}

impl<'s> Run<'s> {
    /// Evaluates the match conditions; whether the remaining expressions are evaluated.
    fn conditions(&mut self, activation: &Activation<'s>) -> bool {
        let (mut is_false, mut has_failed) = (false, false);
        for (index, site) in self.evaluator.sites.iter().enumerate() {
            if site.usage != Use::MatchCondition {
                continue;
            }
            match self.evaluate(index, activation) {
                Some(Ok(Value::Bool(false))) => is_false = true,
                Some(Err(_)) | None => has_failed = true,
                Some(Ok(_)) => {}
            }
        }
        if is_false {
            // A false condition takes precedence over conditions that fail.
            self.outcomes.fill(Outcome::Unused);
        }
        !is_false && !has_failed
    }

    /// Evaluates variables, and the expressions that read them.
    fn rest(&mut self, mut activation: Activation<'s>) {
        let sites: &'s [Site<'s>] = self.evaluator.sites;
        let variables = self.variables;
        activation.set(slots().variables, Value::Struct(variables));
        let mut is_denied = false;
        for (index, site) in sites.iter().enumerate() {
            match site.usage {
                Use::MatchCondition => {}
                Use::Variable => {
                    // A variable sees only those before it. Its reads count only if the variable itself is read.
                    let before = variables.reads.take();
                    let evaluation = self.evaluate(index, &activation);
                    let read = variables.reads.replace(before);
                    let evaluation = evaluation.unwrap_or_else(|| Err(Fault::error("it does not compile")));
                    variables.set(index, evaluation, read);
                }
                Use::Message if !is_denied => {}
                usage => {
                    let evaluation = self.evaluate(index, &activation);
                    if usage == Use::Validation {
                        is_denied = matches!(evaluation, Some(Ok(Value::Bool(false))));
                    }
                }
            }
        }
        let read = variables.all_read();
        for (index, site) in sites.iter().enumerate() {
            if site.usage == Use::Variable && !read.contains(&index) {
                if let Some(recorder) = self.recorders.get_mut(index) {
                    *recorder = NodeRecorder::default();
                }
                if let Some(outcome) = self.outcomes.get_mut(index) {
                    *outcome = Outcome::Unused;
                }
            }
        }
    }

    fn evaluate(&mut self, index: usize, activation: &Activation<'s>) -> Option<Evaluation<'s>> {
        let expression: &'s Expression = self.evaluator.expressions.get(index)?.as_deref()?;
        let context = Context::new(self.arena, PER_CALL_LIMIT);
        let recorder = self.recorders.get_mut(index)?;
        let evaluation = expression
            .program()
            .evaluate_observed(&context, activation, recorder);
        let outcome = match &evaluation {
            Ok(_) => Outcome::Value,
            Err(fault) => Outcome::Failed(self.failure(index, &fault.to_string())),
        };
        if let Some(place) = self.outcomes.get_mut(index) {
            *place = outcome;
        }
        Some(evaluation)
    }

    /// The origin of an error: a variable that the expression reads, if that failed.
    fn failure(&self, index: usize, text: &str) -> Failure {
        if let Some((variable, _)) = self.variables.failed_with(text)
            && let Some(Outcome::Failed(failure)) = self.outcomes.get(variable)
        {
            return failure.clone();
        }
        let node = self
            .recorders
            .get(index)
            .and_then(|recorder| recorder.first_with(text));
        Failure {
            site: index,
            node: node.unwrap_or(ExprId(0)),
            text: text.to_owned(),
        }
    }
}

/// Records the outcomes of the nodes of an expression.
#[derive(Debug, Default)]
struct NodeRecorder {
    outcomes: HashMap<ExprId, NodeOutcomes>,
    /// Errors in the order of evaluation: inner ones first.
    errors: Vec<(ExprId, String)>,
}

impl NodeRecorder {
    fn first_with(&self, text: &str) -> Option<ExprId> {
        let mut errors = self.errors.iter();
        errors.find(|(_, error)| error == text).map(|(node, _)| *node)
    }
}

impl EvaluationObserver for NodeRecorder {
    fn observe(&mut self, expression: ExprId, value: &Evaluation<'_>) {
        let outcomes = self.outcomes.entry(expression).or_default();
        match value {
            Ok(_) => outcomes.values += 1,
            Err(fault) => {
                let text = fault.to_string();
                *outcomes.errors.entry(text.clone()).or_default() += 1;
                self.errors.push((expression, text));
            }
        }
    }
}

/// The namespace of requests as expressions see it; null for objects without one.
fn namespace(name: &str) -> json::Value<'static> {
    if name.is_empty() {
        return json::Value::Null;
    }
    const DEFAULT: &[u8] = br#"{"metadata": {"creationTimestamp": "2025-01-01T00:00:00Z", "labels": {"kubernetes.io/metadata.name": "default"},
        "name": "default", "resourceVersion": "1", "uid": "01234567-89ab-cdef-0123-456789abcdef"},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}"#;
    json::parse(DEFAULT).unwrap_or_default()
}
