//! The coverage points of policies.

use std::sync::atomic::{AtomicBool, Ordering};

use pratique::manifest::{Location, ObjectRef, ObjectSource, PathStep, SourcedObject};
use pratique_cel::ast::{Expr, ExprId, Literal};
use pratique_explain::{ExpressionId, ExpressionLogic, SourceExpression};
use pratique_policy::{AdmissionPhase, Origin};
use pratique_types::admissionregistration::{MatchCondition, Variable};
use pratique_types::admissionregistration::{MutatingAdmissionPolicy, ValidatingAdmissionPolicy};

/// Whether a point is covered.
#[derive(Debug, Default)]
pub(super) struct CoveredPoint(AtomicBool);

impl CoveredPoint {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The coverage points of a policy.
#[derive(Debug)]
pub(super) struct PolicyPoints {
    pub(super) phase: AdmissionPhase,
    pub(super) origin: Origin,
    pub(super) name: String,
    pub(super) location: Location,
    pub(super) matched: CoveredPoint,
    pub(super) bindings: Vec<BindingPoint>,
    pub(super) expressions: Vec<ExpressionPoints>,
}

/// A binding.
#[derive(Debug)]
pub(super) struct BindingPoint {
    pub(super) name: String,
    pub(super) location: Location,
    pub(super) matched: CoveredPoint,
}

/// The coverage points of an expression.
#[derive(Debug)]
pub(super) struct ExpressionPoints {
    pub(super) place: ExpressionId,
    pub(super) location: Location,
    /// Whether it was evaluated, if that is a point of its own.
    pub(super) evaluated: Option<CoveredPoint>,
    pub(super) outcomes: Vec<OutcomePoint>,
}

/// A subexpression that has to be true, or false.
#[derive(Debug)]
pub(super) struct OutcomePoint {
    pub(super) id: ExprId,
    pub(super) wanted: bool,
    pub(super) text: String,
    pub(super) location: Location,
    pub(super) covered: CoveredPoint,
}

impl PolicyPoints {
    pub(super) fn new(
        phase: AdmissionPhase,
        origin: Origin,
        name: Option<String>,
        source: &ObjectSource,
    ) -> Self {
        PolicyPoints {
            phase,
            origin,
            name: name.unwrap_or_default(),
            location: source.locate(&[]),
            matched: CoveredPoint::default(),
            bindings: Vec::new(),
            expressions: Vec::new(),
        }
    }

    /// Whether another policy is the same one, loaded again.
    pub(super) fn is_same(&self, other: &PolicyPoints) -> bool {
        (self.phase, self.origin, &self.name) == (other.phase, other.origin, &other.name)
            && self.location == other.location
    }

    pub(super) fn add_validating(&mut self, policy: &SourcedObject<ValidatingAdmissionPolicy>) {
        let spec = policy.object.spec.clone().unwrap_or_default();
        let source = &policy.source;
        self.conditions(spec.match_conditions.as_deref().unwrap_or_default(), source);
        self.variables(spec.variables.as_deref().unwrap_or_default(), source);
        for (index, validation) in spec.validations.iter().flatten().enumerate() {
            let path = ["validations", &index.to_string(), "expression"];
            self.add_boolean(
                ExpressionId::Validation(index),
                &validation.expression,
                source,
                &path,
            );
            if let Some(text) = validation
                .message_expression
                .as_deref()
                .filter(|text| !text.is_empty())
            {
                let path = ["validations", &index.to_string(), "messageExpression"];
                self.add_value(ExpressionId::Message(index), text, source, &path);
            }
        }
        for (index, annotation) in spec.audit_annotations.iter().flatten().enumerate() {
            let path = ["auditAnnotations", &index.to_string(), "valueExpression"];
            self.add_value(
                ExpressionId::Annotation(index),
                &annotation.value_expression,
                source,
                &path,
            );
        }
    }

    pub(super) fn add_mutating(&mut self, policy: &SourcedObject<MutatingAdmissionPolicy>) {
        let spec = policy.object.spec.clone().unwrap_or_default();
        let source = &policy.source;
        self.conditions(spec.match_conditions.as_deref().unwrap_or_default(), source);
        self.variables(spec.variables.as_deref().unwrap_or_default(), source);
        for (index, mutation) in spec.mutations.iter().flatten().enumerate() {
            let apply = mutation.apply_configuration.as_ref();
            let patch = mutation.json_patch.as_ref();
            let apply = apply
                .and_then(|configuration| Some(("applyConfiguration", configuration.expression.as_deref()?)));
            let patch = patch.and_then(|patch| Some(("jsonPatch", patch.expression.as_deref()?)));
            if let Some((form, text)) = apply.or(patch) {
                let path = ["mutations", &index.to_string(), form, "expression"];
                self.add_value(ExpressionId::Mutation(index), text, source, &path);
            }
        }
    }

    fn conditions(&mut self, conditions: &[MatchCondition], source: &ObjectSource) {
        for (index, condition) in conditions.iter().enumerate() {
            let path = ["matchConditions", &index.to_string(), "expression"];
            self.add_boolean(
                ExpressionId::Condition(index),
                &condition.expression,
                source,
                &path,
            );
        }
    }

    fn variables(&mut self, variables: &[Variable], source: &ObjectSource) {
        for (index, variable) in variables.iter().enumerate() {
            let path = ["variables", &index.to_string(), "expression"];
            let place = ExpressionId::Variable(variable.name.clone());
            self.add_value(place, &variable.expression, source, &path);
        }
    }

    /// Adds an expression that has to be true and false.
    fn add_boolean(&mut self, place: ExpressionId, text: &str, source: &ObjectSource, path: &[&str]) {
        let mut points = ExpressionPoints::new(place, text, source, path);
        if let Some(parsed) = SourceExpression::read(text) {
            let root = parsed.root();
            let whole = wanted(&parsed, root).into_iter();
            let whole = whole.map(|wanted| points.outcome(&parsed, root, wanted, source, path));
            let whole: Vec<_> = whole.collect();
            points.outcomes.splice(0..0, whole);
        }
        self.expressions.push(points);
    }

    /// Adds an expression that has to be evaluated.
    fn add_value(&mut self, place: ExpressionId, text: &str, source: &ObjectSource, path: &[&str]) {
        let mut points = ExpressionPoints::new(place, text, source, path);
        points.evaluated = Some(CoveredPoint::default());
        self.expressions.push(points);
    }
}

impl BindingPoint {
    pub(super) fn new(binding: ObjectRef<'_>) -> Self {
        BindingPoint {
            name: binding.name.to_owned(),
            location: binding.source.locate(&[]),
            matched: CoveredPoint::default(),
        }
    }
}

impl ExpressionPoints {
    fn new(place: ExpressionId, text: &str, source: &ObjectSource, path: &[&str]) -> Self {
        let mut points = ExpressionPoints {
            place,
            location: source.locate(&steps(path)),
            evaluated: None,
            outcomes: Vec::new(),
        };
        if let Some(parsed) = SourceExpression::read(text) {
            for id in deciding(&parsed) {
                for wanted in wanted(&parsed, id) {
                    let outcome = points.outcome(&parsed, id, wanted, source, path);
                    points.outcomes.push(outcome);
                }
            }
        }
        points
    }

    fn outcome(
        &self,
        parsed: &SourceExpression,
        id: ExprId,
        wanted: bool,
        source: &ObjectSource,
        path: &[&str],
    ) -> OutcomePoint {
        OutcomePoint {
            id,
            wanted,
            text: parsed.print_part(id),
            location: source.locate_in(&steps(path), parsed.start(id)),
            covered: CoveredPoint::default(),
        }
    }
}

/// The terms of `&&` and `||`, and the conditions of `?:`.
fn deciding(parsed: &SourceExpression) -> Vec<ExprId> {
    let mut ids: Vec<ExprId> = Vec::new();
    for id in parsed.subexpressions() {
        // Nested chains share terms.
        match parsed.logic(id) {
            ExpressionLogic::And(terms) | ExpressionLogic::Or(terms) => ids.extend(terms),
            ExpressionLogic::Conditional { condition, .. } => ids.push(condition),
            ExpressionLogic::Not(_) | ExpressionLogic::Other => {}
        }
    }
    let mut unique = std::collections::HashSet::new();
    ids.retain(|id| unique.insert(*id));
    ids
}

/// The possible values of an expression: a constant has only its own.
fn wanted(parsed: &SourceExpression, id: ExprId) -> Vec<bool> {
    match parsed.expr(id) {
        Expr::Literal(Literal::Bool(value)) => vec![*value],
        _ => vec![true, false],
    }
}

fn steps(path: &[&str]) -> Vec<PathStep> {
    let step = |name: &&str| match name.parse() {
        Ok(index) => PathStep::Index(index),
        Err(_) => PathStep::Field((*name).to_owned()),
    };
    let spec = std::iter::once(PathStep::Field("spec".to_owned()));
    spec.chain(path.iter().map(step)).collect()
}
