//! Plans of checked expressions, and their evaluation.
//!
//! A [`Program`] is a vector of nodes that refer to each other by index. The planner resolves all that does not depend on
//! the input: the slots of variables, the implementation of a call, the kind of a comprehension, constants, compiled
//! patterns. An evaluation walks the nodes, borrows from the input, and charges the costs of the reference.

mod build;
mod guard;
mod intrinsic;
mod names;
mod node;
mod observe;
mod run;
mod set;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::ast::ExprId;
use crate::checker::CheckedAst;
use crate::constant::Constant;
use crate::context::Context;
use crate::environment::{Activation, DeclaredVariables, Environment, Slot, find_slot};
use crate::error::PlanError;
use crate::types::Type;
use crate::value::Evaluation;

use node::{AttributeRoot, MemberStep, NodeId, PlanNode};
pub use observe::{EvaluationObserver, UnobservedRun};
use run::{LocalValue, PlanEvaluator};

/// How many variables of comprehensions are kept on the stack.
const INLINE_LOCALS: usize = 4;

/// A planned expression: immutable, shared between threads and requests.
#[derive(Debug)]
pub struct Program {
    nodes: Box<[PlanNode]>,
    /// For each node the expression it was planned from.
    origins: Box<[ExprId]>,
    root: NodeId,
    /// The number of variables of comprehensions.
    local_count: usize,
    /// Whether errors, and what they cost, are as cel-go 0.33 has them.
    is_of_cel_go_0_33: bool,
    result_type: Type,
    /// The variables that it reads.
    reads: Box<[Slot]>,
    /// Those of the first 64 slots, one bit each.
    reads_mask: u64,
    /// The variables of its environment, which share this list.
    variables: Arc<DeclaredVariables>,
}

impl Program {
    /// The type that the checker found for the expression.
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// Whether the expression reads a variable of the environment. A variable that it does not read needs no value.
    #[inline]
    pub fn reads(&self, variable: Slot) -> bool {
        match 1u64.checked_shl(variable.index) {
            Some(bit) => self.reads_mask & bit != 0,
            None => self.reads.contains(&variable),
        }
    }

    /// The place of a variable of the environment that it was compiled in.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        find_slot(&self.variables, name)
    }

    /// An activation without values for the variables of the environment that it was compiled in.
    ///
    /// ```
    /// use pratique_cel::{Arena, Context, Environment, Type, Value};
    ///
    /// let environment = Environment::standard().with_variable("x", Type::Int);
    /// let program = environment.compile("x + 1")?;
    /// drop(environment);
    ///
    /// let mut activation = program.activation();
    /// activation.set(program.slot("x").ok_or("not declared")?, Value::Int(41));
    /// let arena = Arena::new();
    /// assert!(matches!(program.evaluate(&Context::new(&arena, 10), &activation)?, Value::Int(42)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn activation<'a>(&self) -> Activation<'a> {
        Activation::new(self.variables.len())
    }

    /// Whether the expression reads only members of a variable that are `known`. `known` is called with the path of names
    /// to each member, and whether only the member's presence is tested.
    pub fn reads_only(&self, variable: Slot, known: impl Fn(&[&str], bool) -> bool) -> bool {
        self.nodes.iter().all(|node| {
            let (attribute, presence) = match node {
                PlanNode::Attribute(attribute) => (attribute, false),
                PlanNode::Presence(attribute) => (attribute, true),
                _ => return true,
            };
            if !matches!(&attribute.root, AttributeRoot::Variable { slot, .. } if *slot == variable) {
                return true;
            }
            let names: Option<Vec<&str>> = attribute.path.iter().map(MemberStep::name).collect();
            names.is_some_and(|names| known(&names, presence))
        })
    }

    /// The fields that the expression reads of a variable; `None` if it uses the variable in another way as well, so that any
    /// field may matter.
    pub fn fields_read(&self, variable: Slot) -> Option<Vec<&str>> {
        let mut fields: Vec<&str> = Vec::new();
        for node in &self.nodes {
            let (PlanNode::Attribute(attribute) | PlanNode::Presence(attribute)) = node else {
                continue;
            };
            if !matches!(&attribute.root, AttributeRoot::Variable { slot, .. } if *slot == variable) {
                continue;
            }
            let field = attribute.path.first()?.name()?;
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        Some(fields)
    }

    /// Evaluates the expression. The cost is added to the context's.
    ///
    /// The activation is [the program's](Self::activation), or that of an environment that has the same variables in the same
    /// places. A variable that is in another place there is not set: reading it is an error.
    pub fn evaluate<'a>(&'a self, context: &Context<'a>, activation: &Activation<'a>) -> Evaluation<'a> {
        self.evaluate_observed(context, activation, &mut UnobservedRun)
    }

    /// Evaluates the expression, and reports the value of each of its subexpressions to an observer.
    pub fn evaluate_observed<'a, O: EvaluationObserver>(
        &'a self,
        context: &Context<'a>,
        activation: &Activation<'a>,
        observer: &mut O,
    ) -> Evaluation<'a> {
        let mut inline = [LocalValue::UNSET; INLINE_LOCALS];
        let locals = match inline.get_mut(..self.local_count) {
            Some(locals) => locals,
            None => context.arena.filled(self.local_count, LocalValue::UNSET),
        };
        PlanEvaluator::new(self, context, activation, locals, observer).evaluate(self.root)
    }

    fn node(&self, id: NodeId) -> &PlanNode {
        const NULL: &PlanNode = &PlanNode::Constant(Constant::Null);
        self.nodes.get(id.index()).unwrap_or(NULL)
    }

    fn origin(&self, id: NodeId) -> ExprId {
        self.origins.get(id.index()).copied().unwrap_or(ExprId(0))
    }
}

/// Plans an expression.
pub(crate) fn plan(environment: &Environment, checked: &CheckedAst) -> Result<Program, PlanError> {
    build::ExpressionPlanner::new(environment, checked).program()
}
