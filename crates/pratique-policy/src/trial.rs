//! One expression by itself, evaluated as those of a policy are: for tools that explain and for tests.

use pratique_cel::{Type, Value};
use pratique_expression::{Cache, Composition, Declarations, ExpressionError, Use};
use pratique_json as json;
use pratique_match::Matched;
use pratique_types::AdmissionRequest;

use crate::compiled::Compiled;
use crate::evaluate::{BUDGET, Halt, OUT_OF_BUDGET, Round};
use crate::outcome::Unfinished;
use crate::session::{Inputs, Session, Store, Surroundings};
use crate::trace::Part;

/// An expression with the variables that it may name.
#[derive(Debug)]
pub struct Trial {
    variables: Vec<(String, Compiled)>,
    expression: Compiled,
    result_type: Type,
    authorizer: bool,
}

/// What an evaluation gave.
#[derive(Clone, Debug)]
pub struct TrialResult<'s> {
    /// The value, or the error in an API server's words (`expression '…' resulted in error: …`).
    pub answer: Result<Value<'s>, String>,
    /// What it cost, variables included.
    pub cost: u64,
}

impl Trial {
    /// Compiles an expression; a variable that does not compile fails when it is read.
    pub fn compile<'a>(
        expression: &str,
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
        declarations: Declarations,
    ) -> Result<Self, ExpressionError> {
        let cache = Cache::new();
        let mut composition = Composition::new(&cache);
        let variables = variables
            .into_iter()
            .map(|(name, text)| (name.to_owned(), composition.variable(name, text, declarations)))
            .collect();
        let expression = composition.compile(expression, Use::Variable, declarations)?;
        Ok(Trial {
            variables,
            result_type: expression.result_type().clone(),
            expression: Ok(expression),
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
        matched: Matched<'_>,
        params: &json::Value<'_>,
        namespace: &json::Value<'_>,
        surroundings: Surroundings<'_>,
        read: impl FnOnce(TrialResult<'_>) -> R,
    ) -> Result<R, Unfinished> {
        let store = Store::default();
        let session = Session::new(request.into(), surroundings, &store)
            .named_by_object()
            .without_types();
        let inputs = Inputs {
            matched,
            objects: session.objects(matched.kind),
            params: session.param(None, Some(params)),
            namespace: match namespace.is_null() {
                true => Value::Null,
                false => session.namespace(namespace).reduced,
            },
            authorizer: self.authorizer,
        };
        let mut round = Round::new(&session, &self.variables, &inputs, BUDGET);
        let answer = match round.evaluate(Part::Variable(""), &self.expression) {
            Ok(answer) => answer,
            Err(Halt::OutOfBudget) => Err(OUT_OF_BUDGET.to_owned()),
            Err(Halt::Unfinished(unfinished)) => return Err(unfinished),
        };
        Ok(read(TrialResult {
            answer,
            cost: BUDGET - round.budget(),
        }))
    }
}
