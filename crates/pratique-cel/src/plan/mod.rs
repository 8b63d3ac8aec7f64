//! From typed tree to a flat plan, and its evaluation.

use crate::checker::Checked;
use crate::context::Context;
use crate::environment::{Activation, Environment};
use crate::error::Fault;
use crate::types::Type;
use crate::value::Evaluation;

/// A planned expression: immutable, shared between threads and requests.
#[derive(Debug)]
pub struct Program {
    result_type: Type,
}

impl Program {
    /// The type that the checker found for the expression.
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// Evaluates it. The cost is added to the context's.
    pub fn evaluate<'a>(&'a self, context: &Context<'a>, activation: &Activation<'a>) -> Evaluation<'a> {
        let _ = (context, activation);
        Err(Fault::error("no evaluator yet"))
    }
}

/// Plans an expression; the error is the reference's text after `program instantiation failed: `.
pub fn plan(environment: &Environment, checked: &Checked) -> Result<Program, String> {
    let _ = environment;
    Ok(Program {
        result_type: checked.result_type().clone(),
    })
}
