//! One expression, evaluated as those of a policy are: for tools and tests.

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_cel::{Type, Value};
use pratique_core::EvalContext;
use pratique_expression::{Cache, Composition, Declarations, ExpressionError, ExpressionPurpose};
use pratique_json as json;
use pratique_match::{MatchedResource, Namespace};
use pratique_types::AdmissionRequest;
use pratique_types::cel_limits::RUNTIME_BUDGET;

use crate::arena::RequestArena;
use crate::compiled_expressions::{CompiledExpression, NamedVariable, PolicyCompiler};
use crate::inputs::{ExpressionInputs, InputKey, NamespaceForm};
use crate::round::{EvaluationHalt, EvaluationRound, OUT_OF_BUDGET};
use crate::session::RequestSession;
use crate::trace::ExpressionId;
use pratique_core::UnfinishedEvaluation;

/// An expression with the variables that it may name.
#[derive(Debug)]
pub struct Trial {
    variables: Box<[NamedVariable]>,
    expression: CompiledExpression,
    result_type: Type,
    authorizer: bool,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub struct TrialResult<'s> {
    /// The value, or an API server's message of the error (`expression '…' resulted in error: …`).
    pub answer: Result<Value<'s>, String>,
    /// Its cost, variables included.
    pub cost: u64,
}

impl Trial {
    /// Compiles an expression; a variable that does not compile fails when it is read.
    pub fn compile<'a>(
        expression: &str,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
        declarations: Declarations,
    ) -> Result<Self, ExpressionError> {
        Self::compile_in(&Cache::new(), expression, variables, declarations)
    }

    /// The same with the expressions in use of a server, for its release.
    pub fn compile_in<'a>(
        cache: &Cache,
        expression: &str,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
        declarations: Declarations,
    ) -> Result<Self, ExpressionError> {
        let variables: Vec<_> = variables
            .into_iter()
            .map(|(name, text)| api::Variable {
                name: name.to_owned(),
                expression: text.to_owned(),
            })
            .collect();
        let (compiler, variables) = PolicyCompiler::new(Composition::new(cache), &variables, declarations);
        let compiled = compiler.compile(expression, ExpressionPurpose::Variable, declarations);
        let result_type = match &compiled.expression {
            Ok(expression) => expression.result_type().clone(),
            Err(error) => return Err((**error).clone()),
        };
        Ok(Trial {
            variables,
            result_type,
            expression: compiled,
            authorizer: declarations.authorizer,
        })
    }

    /// The type that the checker found.
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// Objects are seen as they came, as those of custom resources are.
    ///
    /// Evaluates it over a request, met as the resource and kind of `matched`, and hands the result to `read`: values live as long as that call.
    pub fn evaluate<R>(
        &self,
        request: &AdmissionRequest<'_>,
        matched: MatchedResource<'_>,
        params: &json::Value<'_>,
        namespace: &json::Value<'_>,
        context: EvalContext<'_>,
        read: impl FnOnce(TrialResult<'_>) -> R,
    ) -> Result<R, UnfinishedEvaluation> {
        let arena = RequestArena::with_limit(context.release, context.memory);
        let mut session = RequestSession::new(request.into(), context, &arena).without_types();
        session.take_name_of_object();
        session.set_namespace(if namespace.is_null() {
            None
        } else {
            Some(Namespace::Stored(namespace))
        });
        let inputs = ExpressionInputs {
            matched,
            objects: session.unconverted_objects(),
            params: session.param(None, Some(params)),
            namespace: NamespaceForm::Reduced,
            authorizer: self.authorizer,
            key: InputKey::UNSHARED,
            repeats: false,
        };
        let mut round = EvaluationRound::new(&session, &self.variables, &inputs, RUNTIME_BUDGET);
        let answer = match round.evaluate(ExpressionId::Variable(""), &self.expression) {
            Ok(answer) => answer,
            Err(EvaluationHalt::OutOfBudget) => Err(OUT_OF_BUDGET.to_owned()),
            Err(EvaluationHalt::Undecided(missing)) => Err(format!("undecided: {missing}")),
            Err(EvaluationHalt::Unfinished(unfinished)) => return Err(unfinished),
        };
        Ok(read(TrialResult {
            answer,
            cost: RUNTIME_BUDGET - round.budget(),
        }))
    }
}
