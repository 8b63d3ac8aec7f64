//! Whether a warning is so: objects of the kinds that it is about are put before the policy.
//!
//! The objects come from `pratique-sample`, and the policy is evaluated by the engine that answers requests; neither
//! knows what the lint thought. A warning that an expression fails reproduces once it does, at the place that the
//! warning is about; one that says that a comparison or question has one answer only, if it has no other over all
//! objects; one about costs, if its own object costs as much.

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_expression::environment;
use pratique_json::{Progress, Value};
use pratique_lint::{ExpressionCost, Warning, WarningExample};
use pratique_manifest::{Location, ManifestSet, ObjectSource, PathStep};
use pratique_sample::{
    CostGoal, MutationTrial, ObjectSpec, PartValue, Policy, PolicyEvaluator, SampleServer, TrialOutcome,
    generate,
};
use pratique_schema::FeatureGates;
use pratique_schema::Release;
use pratique_typed::convert_object;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, Operation};

use crate::subject::WarningSubject;

/// Whether a warning reproduces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarningOutcome {
    /// The expression fails over an object; in these words.
    Fails(String),
    /// What the warning is about has this value only.
    Always(bool),
    /// The evaluation costs so much.
    Costs(u64),
    /// It does not, and why.
    Not(String),
}

impl WarningOutcome {
    /// Whether it does.
    pub fn is_reproduced(&self) -> bool {
        !matches!(self, WarningOutcome::Not(_))
    }
}

impl Display for WarningOutcome {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            WarningOutcome::Fails(error) => write!(formatter, "reproduced: {error}"),
            WarningOutcome::Always(value) => write!(formatter, "reproduced: it is always {value}"),
            WarningOutcome::Costs(cost) => write!(formatter, "reproduced: it costs {cost}"),
            WarningOutcome::Not(why) => write!(formatter, "not reproduced: {why}"),
        }
    }
}

/// The text of the expression that a warning is about.
pub fn expression(set: &ManifestSet, warning: &Warning) -> Option<String> {
    let subject = WarningSubject::find(set, warning)?;
    let mut expressions = subject.policy().expressions().into_iter();
    let expression = expressions.find(|expression| expression.field == subject.field)?;
    Some(expression.text.to_owned())
}

/// The release that warnings are of: manifests of others do not say for which servers they are.
fn linted_release() -> &'static Release {
    Release::latest()
}

/// Tries to reproduce a warning.
pub fn reproduce(set: &ManifestSet, warning: &Warning) -> WarningOutcome {
    let Some(subject) = WarningSubject::find(set, warning) else {
        return WarningOutcome::Not("it is about no policy and no webhook".to_owned());
    };
    match &warning.example {
        Some(example) if example.cost.is_none() => mutations(subject.policy(), warning, example),
        Some(example) => costs(&subject, example),
        None => evaluations(&subject, warning),
    }
}

/// Runs the mutations of a policy over the object that a warning comes with, and asks a server about the result.
fn mutations(policy: Policy<'_>, warning: &Warning, example: &WarningExample) -> WarningOutcome {
    let Policy::Mutating(mutating) = policy else {
        return WarningOutcome::Not("it is about no mutating policy".to_owned());
    };
    let served = policy.served(linted_release());
    let Some((served, _)) = served.iter().find(|(served, _)| served.kind == example.kind) else {
        return WarningOutcome::Not("the policy is not asked about its object".to_owned());
    };
    let Ok(object) = pratique_json::parse(example.object.as_bytes()) else {
        return WarningOutcome::Not("its object is no JSON".to_owned());
    };
    let trial = MutationTrial::new(FeatureGates::new(linted_release()), mutating);
    let request = trial.request(served, example.operation, object.into_owned());
    let outcomes = [true, false].map(|allowed| trial.mutate(&request, allowed));
    let told = outcomes.into_iter().find_map(|outcome| match outcome {
        TrialOutcome::Failed { text, .. } if warning.message.contains(&text) => Some(text),
        TrialOutcome::Changed(_) if warning.lint.name == "failing-mutation" => None,
        TrialOutcome::Changed(after) => {
            let server = SampleServer::new(FeatureGates::new(linted_release()));
            let findings = server.review(&trial, &request, true);
            let is_of_server = matches!(warning.lint.name, "invalid-result" | "plugin-field");
            (!is_of_server || !findings.is_empty()).then(|| format!("it becomes {after}"))
        }
        _ => None,
    });
    told.map_or_else(
        || WarningOutcome::Not("the mutations do nothing of it".to_owned()),
        WarningOutcome::Fails,
    )
}

/// Evaluates the object that a warning about costs comes with.
fn costs(subject: &WarningSubject<'_>, example: &WarningExample) -> WarningOutcome {
    let policy = subject.policy();
    let expressions = policy.expressions();
    let expression = expressions
        .iter()
        .find(|expression| expression.field == subject.field);
    let (goal, limit) = match (expression, subject.field.as_str()) {
        (Some(expression), _) => (CostGoal::Expression(expression.id.clone()), ExpressionCost::LIMIT),
        (None, "spec.matchConditions") => (CostGoal::Conditions, 2_500_000),
        (None, _) => (CostGoal::Policy, 10_000_000),
    };
    let served = policy.served(linted_release());
    let served = served
        .iter()
        .find(|(served, operations)| served.kind == example.kind && operations.contains(&example.operation));
    let Some((served, _)) = served else {
        return WarningOutcome::Not("the policy is not asked about its object".to_owned());
    };
    let Ok(object) = pratique_json::parse(example.object.as_bytes()) else {
        return WarningOutcome::Not("its object is no JSON".to_owned());
    };
    let progress = Progress::unwatched();
    if let Err(error) = convert_object(linted_release(), &served.kind, &mut object.clone(), &progress) {
        return WarningOutcome::Not(format!("a server does not take its object: {error}"));
    }
    // The user may be allowed everything, or nothing.
    let cost = |seed| {
        let evaluator = PolicyEvaluator::new(
            linted_release(),
            policy,
            served,
            example.operation,
            &policy.reads().params,
            seed,
        );
        goal.cost(&evaluator.evaluate(&object, None))
    };
    match cost(1).max(cost(2)) {
        cost if cost >= limit / 5 * 4 => WarningOutcome::Costs(cost),
        cost => WarningOutcome::Not(format!(
            "its object of {} bytes costs {cost}",
            example.object.len()
        )),
    }
}

/// How many objects are made of each kind, and how many kinds.
const OBJECTS: u64 = 300;
const KINDS: usize = 8;
/// How often something must have been evaluated for its only value to count.
const OFTEN: usize = 20;

/// Evaluates objects of the kinds that a warning is about.
fn evaluations(subject: &WarningSubject<'_>, warning: &Warning) -> WarningOutcome {
    let policy = subject.policy();
    let expressions = policy.expressions();
    let Some(expression) = expressions
        .iter()
        .find(|expression| expression.field == subject.field)
    else {
        return WarningOutcome::Not("it is about no expression".to_owned());
    };
    let Ok(ast) = environment(expression.declarations, 37).parse(expression.text) else {
        return WarningOutcome::Not("the expression does not parse".to_owned());
    };
    let watched_nodes = WatchedNodes {
        nodes: nodes(&ast, &warning.field, subject.source, &warning.location),
        ast: &ast,
    };
    let reads = policy.reads();
    let mut tally = EvaluationTally::default();
    for (served, operation) in matched_resources(policy, &warning.message) {
        let evaluators: Vec<PolicyEvaluator<'_>> = (1..=2)
            .map(|seed| {
                PolicyEvaluator::new(linted_release(), policy, served, operation, &reads.params, seed)
            })
            .collect();
        let mut previous: Option<Value<'_>> = None;
        for seed in 0..OBJECTS {
            const DENSITIES: [u8; 6] = [100, 90, 70, 40, 15, 0];
            let spec = ObjectSpec {
                release: linted_release(),
                served,
                operation,
                reads: &reads.object,
                density: DENSITIES
                    .get(seed as usize % DENSITIES.len())
                    .copied()
                    .unwrap_or(50),
            };
            let Some(object) = generate(&spec, seed) else {
                break;
            };
            if convert_object(
                linted_release(),
                &served.kind,
                &mut object.clone(),
                &Progress::unwatched(),
            )
            .is_err()
            {
                continue;
            }
            for object in make_variants(served, object) {
                tally.objects += 1;
                // An update may make an object of any other one.
                let old = previous.as_ref().filter(|_| operation == Operation::Update);
                let changes = [Some(&object), old].map(|old| old.map(|old| (old, &object)));
                for evaluator in &evaluators {
                    let evaluate =
                        |(old, object)| evaluator.evaluate_change(old, object, Some(&expression.id));
                    for evaluated in changes.into_iter().flatten().flat_map(evaluate) {
                        if evaluated.expression != expression.id {
                            continue;
                        }
                        if let Some(error) = watched_nodes.failed(&evaluated) {
                            return WarningOutcome::Fails(format!(
                                "{error} (over a {})",
                                kind_text(&served.kind)
                            ));
                        }
                        tally.record(&watched_nodes, &evaluated);
                    }
                }
                previous = Some(object);
            }
        }
    }
    match warning.lint.name {
        "type-check" => tally.only_value(),
        _ => tally.not(),
    }
}

/// An object, and of a Service the headless one: that needs no ports, as one with the name of another host.
// Upstream: pkg/apis/core/validation/validation.go, ValidateService
fn make_variants(served: &ServedResource, object: Value<'static>) -> Vec<Value<'static>> {
    let mut headless = object.clone();
    if served.kind.is_core("Service")
        && let Some(Value::Object(spec)) = headless.get_mut("spec")
    {
        spec.remove("ports");
        spec.remove("type");
        spec.insert("clusterIP", "None");
        return vec![object, headless];
    }
    vec![object]
}

fn kind_text(kind: &GroupVersionKind) -> String {
    format!("{} {}", kind.api_version(), kind.kind)
}

/// The resources and operations that a warning is about: those whose kinds it names, else all that the policy takes.
fn matched_resources(policy: Policy<'_>, message: &str) -> Vec<(&'static ServedResource, Operation)> {
    let all = policy.served(linted_release());
    let is_named = |served: &ServedResource| {
        message.contains(&kind_text(&served.kind)) || message.contains(&served.kind.to_string())
    };
    let has_objects = |operation: &Operation| *operation != Operation::Connect;
    let named = all.iter().any(|(served, _)| is_named(served));
    let wanted = all.into_iter().filter(|(served, _)| !named || is_named(served));
    wanted
        .take(KINDS)
        .flat_map(|(served, operations)| {
            let operations = operations.into_iter().filter(has_objects);
            operations
                .map(move |operation| (served, operation))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The nodes of an expression that stand where a warning is.
fn nodes(ast: &Ast, field: &str, source: &ObjectSource, place: &Location) -> Vec<ExprId> {
    let path = path(field);
    let text = ast.source.as_str();
    let starts: HashMap<u32, usize> = (0..ast.len() as u32)
        .map(|id| {
            let offset = ast.node(ExprId(id)).offset;
            let byte = text
                .char_indices()
                .nth(offset as usize)
                .map_or(text.len(), |(at, _)| at);
            (offset, source.locate_range(&path, byte..byte + 1).start.offset)
        })
        .collect();
    let within = |id: &ExprId| {
        let start = starts.get(&ast.node(*id).offset).copied().unwrap_or_default();
        (place.start.offset..place.end.offset.max(place.start.offset + 1)).contains(&start)
    };
    let mut nodes: Vec<ExprId> = (0..ast.len() as u32).map(ExprId).filter(within).collect();
    // A chain of fields is read in one go: what fails in it is told of the whole chain.
    let mut at = 0;
    while let Some(part) = nodes.get(at).copied() {
        let wholes = (0..ast.len() as u32).map(ExprId);
        let wholes: Vec<ExprId> = wholes
            .filter(|id| !nodes.contains(id) && reads(ast, *id) == Some(part))
            .collect();
        nodes.extend(wholes);
        at += 1;
    }
    nodes
}

/// The value of which a node reads a part.
fn reads(ast: &Ast, id: ExprId) -> Option<ExprId> {
    match ast.expr(id) {
        Expr::Select { operand, .. } => Some(*operand),
        Expr::Call {
            function,
            target: None,
            args,
        } if matches!(&**function, "_[_]" | "_[?_]" | "_?._") => args.first().copied(),
        _ => None,
    }
}

/// `spec.validations[0].expression`
fn path(field: &str) -> Vec<PathStep> {
    let mut steps = Vec::new();
    for part in field.split('.') {
        let mut names = part.split('[');
        steps.extend(names.next().map(|name| PathStep::Field(name.to_owned())));
        let indices = names.filter_map(|index| index.trim_end_matches(']').parse().ok());
        steps.extend(indices.map(PathStep::Index));
    }
    steps
}

/// The observed nodes of an expression.
struct WatchedNodes<'a> {
    ast: &'a Ast,
    nodes: Vec<ExprId>,
}

impl WatchedNodes<'_> {
    /// The error of an evaluation that failed where the warning is.
    fn failed(&self, evaluated: &pratique_sample::EvaluatedExpression) -> Option<String> {
        let error = evaluated.error.clone()?;
        let here = evaluated
            .parts
            .iter()
            .any(|(id, value)| self.nodes.contains(id) && matches!(value, PartValue::Error(_)));
        here.then_some(error)
    }
}

/// Counts of the evaluations over all objects.
#[derive(Default)]
struct EvaluationTally {
    objects: usize,
    evaluations: usize,
    /// How often a node was true, and how often it was not.
    bools: HashMap<ExprId, (usize, usize)>,
}

impl EvaluationTally {
    fn record(&mut self, watched_nodes: &WatchedNodes<'_>, evaluated: &pratique_sample::EvaluatedExpression) {
        self.evaluations += 1;
        for (id, value) in &evaluated.parts {
            // Only what asks or compares, not what macros are made of.
            let asks = match watched_nodes.ast.expr(*id) {
                Expr::Select { test_only, .. } => *test_only,
                Expr::Call { function, .. } => matches!(
                    &**function,
                    "_==_" | "_!=_" | "@in" | "_<_" | "_<=_" | "_>_" | "_>=_"
                ),
                _ => false,
            };
            if let (true, true, PartValue::Bool(value)) = (asks, watched_nodes.nodes.contains(id), value) {
                let (yes, no) = self.bools.entry(*id).or_default();
                *(if *value { yes } else { no }) += 1;
            }
        }
    }

    fn only_value(&self) -> WarningOutcome {
        let only = self.bools.values().find_map(|counts| match *counts {
            (yes, 0) if yes >= OFTEN => Some(true),
            (0, no) if no >= OFTEN => Some(false),
            _ => None,
        });
        only.map_or_else(|| self.not(), WarningOutcome::Always)
    }

    fn not(&self) -> WarningOutcome {
        let EvaluationTally {
            objects, evaluations, ..
        } = self;
        WarningOutcome::Not(format!(
            "{objects} objects, {evaluations} evaluations of the expression without the fault"
        ))
    }
}
