//! Evaluates one policy over one object, with the engine that serves requests.

use std::cell::RefCell;

use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_json::Value;
use pratique_policy::{ExpressionId, PolicyTrace, settle_request};
use pratique_schema::Release;
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::policy::Policy;
use crate::reads::ReadTree;
use crate::request::build_request;
use crate::runner::PolicyRunner;

/// A compiled policy that is evaluated for one resource and operation, regardless of its selectors and bindings.
#[derive(Debug)]
pub struct PolicyEvaluator<'e> {
    runner: PolicyRunner,
    served: &'e ServedResource,
    operation: Operation,
    allows: bool,
}

/// An evaluation of one expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedExpression {
    /// The expression.
    pub expression: ExpressionId,
    /// Its cost, without that of the variables that it reads.
    pub cost: u64,
    /// The error, if it has no value.
    pub error: Option<String>,
    /// The values of its nodes, in the order of evaluation; recorded for the watched expression only.
    pub parts: Vec<(ExprId, PartValue)>,
}

/// The value of a node of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartValue {
    /// `true` or `false`
    Bool(bool),
    /// Any other value.
    Other,
    /// An error.
    Error(String),
}

impl<'e> PolicyEvaluator<'e> {
    /// Compiles a policy for a release. Its rules and selectors are ignored; its params are generated from the reads of expressions.
    pub fn new(
        release: &'static Release,
        policy: Policy<'_>,
        served: &'e ServedResource,
        operation: Operation,
        params: &ReadTree,
        seed: u64,
    ) -> Self {
        PolicyEvaluator {
            runner: PolicyRunner::new(
                policy,
                Origin::Api,
                Some((params, seed)),
                &Cache::new().of_release(release),
            ),
            served,
            operation,
            allows: seed.is_multiple_of(2),
        }
    }

    /// Evaluates the policy over an object; gives the evaluated expressions, in order. The node values of the `watched`
    /// expression are recorded.
    ///
    /// An update does not change the object; a deletion has it as the old object.
    pub fn evaluate(&self, object: &Value<'_>, watched: Option<&ExpressionId>) -> Vec<EvaluatedExpression> {
        self.evaluate_change(object, object, watched)
    }

    /// The same, where an update makes one object of another.
    pub fn evaluate_change(
        &self,
        old: &Value<'_>,
        object: &Value<'_>,
        watched: Option<&ExpressionId>,
    ) -> Vec<EvaluatedExpression> {
        let is = |operation| self.operation == operation;
        let [object, old] =
            [(Operation::Delete, object), (Operation::Create, old)].map(|(without, object)| {
                if is(without) {
                    Value::Null
                } else {
                    object.borrowed()
                }
            });
        let mut request = build_request(self.served, self.operation, object, old);
        settle_request(self.runner.release(), &mut request);
        let recorder = CostRecorder::new(watched);
        self.runner.run(&request, self.allows, &recorder);
        recorder.into_evaluated()
    }
}

/// Records the expressions that are evaluated.
struct CostRecorder<'w> {
    watched: Option<&'w ExpressionId>,
    open: RefCell<Vec<EvaluatedExpression>>,
    done: RefCell<Vec<EvaluatedExpression>>,
}

impl<'w> CostRecorder<'w> {
    fn new(watched: Option<&'w ExpressionId>) -> Self {
        CostRecorder {
            watched,
            open: RefCell::default(),
            done: RefCell::default(),
        }
    }

    fn into_evaluated(self) -> Vec<EvaluatedExpression> {
        self.done.into_inner()
    }
}

impl PolicyTrace for CostRecorder<'_> {
    fn begin(&self, id: ExpressionId<&str>, _: &str) {
        self.open.borrow_mut().push(EvaluatedExpression {
            expression: id.to_owned(),
            cost: 0,
            error: None,
            parts: Vec::new(),
        });
    }

    fn wants_values(&self) -> bool {
        self.watched.is_some()
    }

    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        const MOST: usize = 10_000;
        let mut open = self.open.borrow_mut();
        let Some(of) = open.last_mut() else { return };
        if self.watched == Some(&of.expression) && of.parts.len() < MOST {
            let value = match value {
                Ok(pratique_cel::Value::Bool(value)) => PartValue::Bool(*value),
                Ok(_) => PartValue::Other,
                Err(fault) => PartValue::Error(fault.to_string()),
            };
            of.parts.push((expression, value));
        }
    }

    fn end(&self, result: &Evaluation<'_>, cost: u64) {
        let ended = self.open.borrow_mut().pop();
        self.done
            .borrow_mut()
            .extend(ended.map(|ended| EvaluatedExpression {
                cost,
                error: result.as_ref().err().map(ToString::to_string),
                ..ended
            }));
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::admissionregistration::v1 as api;
    use serde_json::json;

    use super::*;

    /// Evaluates a policy with a condition, a variable and validations over a Pod.
    fn evaluated(operation: Operation, object: &str) -> Vec<(ExpressionId, Option<String>)> {
        let policy = json!({"metadata": {"name": "p"}, "spec": {
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            // Rules and selectors are ignored.
            "matchConstraints": {"resourceRules": [], "objectSelector": {"matchLabels": {"a": "b"}}},
            "matchConditions": [{"name": "c", "expression": "request.operation != 'CONNECT'"}],
            "variables": [{"name": "names", "expression": "object.spec.containers.map(c, c.name)"}],
            "validations": [
                {"expression": "variables.names.exists(n, n == params.data.name)"},
                {"expression": "object.metadata.labels.size() > 0"},
            ],
        }});
        let policy: api::ValidatingAdmissionPolicy = serde_json::from_value(policy).unwrap();
        let policy = Policy::Validating(&policy);
        let evaluator = PolicyEvaluator::new(
            Release::latest(),
            policy,
            Release::latest().resources().named("pods").unwrap(),
            operation,
            &policy.reads().params,
            1,
        );
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let evaluated = evaluator.evaluate(&object, None);
        assert!(
            evaluated
                .iter()
                .all(|evaluation| evaluation.cost > 0 && evaluation.parts.is_empty()),
            "{evaluated:?}"
        );
        evaluated
            .into_iter()
            .map(|evaluation| (evaluation.expression, evaluation.error))
            .collect()
    }

    #[test]
    fn expressions_have_their_errors() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}]}}"#;
        assert_eq!(
            evaluated(Operation::Create, pod),
            [
                (ExpressionId::Condition(0), None),
                (ExpressionId::Variable("names".to_owned()), None),
                (ExpressionId::Validation(0), None),
                (
                    ExpressionId::Validation(1),
                    Some("no such key: labels".to_owned())
                ),
            ]
        );
    }
}
