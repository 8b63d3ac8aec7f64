//! Our side of `cargo xtask bench cel`: expressions over one object, in the environment of a policy's validations.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique::authorization::Authorizer;
use pratique::expressions::Declarations;
use pratique::policy::Trial;
use pratique::types::{AdmissionRequest, GroupVersionKind, GroupVersionResource};
use pratique::{EvalContext, Objects};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use pratique_cel::{Activation, Arena, Context, Environment, Program, Value};
use pratique_expression::{Cache, Composition, slots};
use pratique_match::MatchedResource;
use pratique_testkit::NoOpinion;
use serde::Deserialize;
use serde_json::json;

/// The expressions by name, all over one object.
pub(crate) struct CelExpressions {
    environment: Environment,
    object: String,
    subjects: BTreeMap<String, CompiledSubject>,
}

struct CompiledSubject {
    text: String,
    program: Program,
    trial: Trial,
}

#[derive(Deserialize)]
struct CelSetup {
    object: serde_json::Value,
    expressions: Vec<NamedExpression>,
}

#[derive(Deserialize)]
struct NamedExpression {
    name: String,
    text: String,
}

/// The variables of a validation of a policy without params.
const DECLARATIONS: Declarations = Declarations {
    params: false,
    authorizer: true,
    patch_types: false,
    variables: true,
};

/// The cost limit of an evaluation.
const LIMIT: u64 = 1_000_000;

impl CelExpressions {
    pub(crate) fn new(setup: serde_json::Value) -> Result<Self, BenchError> {
        let CelSetup { object, expressions } = serde_json::from_value(setup)?;
        let environment = Composition::new(&Cache::new()).environment(DECLARATIONS);
        let subjects = expressions
            .into_iter()
            .map(|expression| {
                Ok((
                    expression.name,
                    CompiledSubject::new(&environment, expression.text)?,
                ))
            })
            .collect::<Result<_, BenchError>>()?;
        Ok(CelExpressions {
            environment,
            object: object.to_string(),
            subjects,
        })
    }

    /// Hands an activation to `work` that is made already.
    fn with_activation<T>(&self, work: impl FnOnce(&Activation<'_>) -> T) -> Result<T, BenchError> {
        let object = pratique_json::parse(self.object.as_bytes())?;
        let mut activation = slots().activation();
        activation.set(slots().object, Value::from_typed_json(&object));
        activation.set(slots().old_object, Value::Null);
        Ok(work(&activation))
    }
}

impl ContestSide for CelExpressions {
    fn facts(&self) -> Result<serde_json::Value, BenchError> {
        let mut cases = serde_json::Map::new();
        for (name, subject) in &self.subjects {
            let (value, cost) = self.with_activation(|activation| subject.evaluate(activation))?;
            cases.insert(name.clone(), json!({"value": value.to_string(), "cost": cost}));
        }
        Ok(json!({ "cases": cases }))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        let subject = self
            .subjects
            .get(&order.case)
            .ok_or_else(|| format!("no expression is named {:?}", order.case))?;
        let environment = &self.environment;
        let check = || {
            let ast = environment.parse(&subject.text)?;
            environment.check_types(ast)
        };
        match order.measure.as_str() {
            "check" => Ok(order.time(check)),
            "plan" => {
                let checked = check()?;
                Ok(order.time(|| environment.plan(&checked)))
            }
            "compile" => Ok(order.time(|| environment.compile(&subject.text))),
            // Of ours, objects of both kinds are JSON.
            "evaluate" | "evaluate-loose" => {
                self.with_activation(|activation| order.time(|| subject.evaluate(activation)))
            }
            "review" => self.review(order, &subject.trial),
            other => Err(format!("no measure is named {other:?}").into()),
        }
    }
}

impl CelExpressions {
    /// Measures the work for a request whose object is decoded: creating the variables and evaluating.
    fn review(&self, order: &ContestOrder, trial: &Trial) -> Result<TurnSample, BenchError> {
        let text = format!(
            r#"{{"uid":"u","kind":{{"version":"v1","kind":"Pod"}},"resource":{{"version":"v1","resource":"pods"}},"namespace":"shop","operation":"CREATE","userInfo":{{"username":"ann"}},"object":{}}}"#,
            self.object
        );
        let request: AdmissionRequest<'_> = serde_json::from_str(&text)?;
        let (kind, resource): (&GroupVersionKind, &GroupVersionResource) = (&request.kind, &request.resource);
        let (cluster, nothing) = (Objects::new(), pratique_json::Value::Null);
        let authorizer: Arc<dyn Authorizer> = Arc::new(NoOpinion);
        Ok(order.time(|| {
            let context = EvalContext::new(&cluster, authorizer.clone());
            let matched = MatchedResource { resource, kind };
            trial.evaluate(&request, matched, &nothing, &nothing, context, |result| {
                (result.cost, result.answer.is_ok())
            })
        }))
    }
}

impl CompiledSubject {
    fn new(environment: &Environment, text: String) -> Result<Self, BenchError> {
        let program = environment.compile(&text)?;
        let trial = Trial::compile(&text, [], DECLARATIONS)?;
        Ok(CompiledSubject { text, program, trial })
    }

    /// Evaluates with memory and a meter of its own; gives the cost too.
    fn evaluate(&self, activation: &Activation<'_>) -> (bool, u64) {
        let arena = Arena::new();
        let context = Context::new(&arena, LIMIT);
        let value = self.program.evaluate(&context, activation);
        (matches!(value, Ok(Value::Bool(true))), context.cost())
    }
}
