//! From typed tree to a flat plan, and its evaluation.
//!
//! A [`Program`] is a vector of nodes that name each other by index. What can be known before an evaluation is known
//! in it: the slots of variables, the one implementation of a call, the shape of a comprehension, constants, compiled
//! patterns. An evaluation walks the nodes, borrows from the input, and charges what the reference would charge.

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

use crate::ast::ExprId;
use crate::checker::Checked;
use crate::constant::Constant;
use crate::context::Context;
use crate::environment::{Activation, Environment, Slot};
use crate::types::Type;
use crate::value::Evaluation;

use node::{Node, NodeId, Root, Step};
pub use observe::{Observer, Unobserved};
use run::{Local, Run};

/// How many variables of comprehensions find room on the stack.
const FEW: usize = 4;

/// A planned expression: immutable, shared between threads and requests.
#[derive(Debug)]
pub struct Program {
    nodes: Box<[Node]>,
    /// For each node the expression it was planned from.
    origins: Box<[ExprId]>,
    root: NodeId,
    /// How many variables of comprehensions there are.
    local_count: usize,
    result_type: Type,
    /// The variables that it reads.
    reads: Box<[Slot]>,
    /// The first of them, a bit for each.
    reads_first: u64,
}

impl Program {
    /// The type that the checker found for the expression.
    pub fn result_type(&self) -> &Type {
        &self.result_type
    }

    /// Whether it reads a variable of the environment; if not, that needs no value.
    #[inline]
    pub fn reads(&self, variable: Slot) -> bool {
        match 1u64.checked_shl(variable.0) {
            Some(bit) => self.reads_first & bit != 0,
            None => self.reads.contains(&variable),
        }
    }

    /// Whether all that it reads of a variable is `known`, which is asked for paths of names, and for each whether only
    /// its presence counts.
    pub fn reads_only(&self, variable: Slot, known: impl Fn(&[&str], bool) -> bool) -> bool {
        self.nodes.iter().all(|node| {
            let (attribute, presence) = match node {
                Node::Attribute(attribute) => (attribute, false),
                Node::Presence(attribute) => (attribute, true),
                _ => return true,
            };
            if !matches!(&attribute.root, Root::Variable { slot, .. } if *slot == variable) {
                return true;
            }
            let names: Option<Vec<&str>> = attribute.path.iter().map(Step::name).collect();
            names.is_some_and(|names| known(&names, presence))
        })
    }

    /// The fields that it reads of a variable; `None` where it does something else with the variable as well, so that
    /// any of its fields may count.
    pub fn fields_read(&self, variable: Slot) -> Option<Vec<&str>> {
        let mut fields: Vec<&str> = Vec::new();
        for node in &self.nodes {
            let (Node::Attribute(attribute) | Node::Presence(attribute)) = node else {
                continue;
            };
            if !matches!(&attribute.root, Root::Variable { slot, .. } if *slot == variable) {
                continue;
            }
            let field = attribute.path.first()?.name()?;
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        Some(fields)
    }

    /// Evaluates it. The cost is added to the context's.
    pub fn evaluate<'a>(&'a self, context: &Context<'a>, activation: &Activation<'a>) -> Evaluation<'a> {
        self.evaluate_observed(context, activation, &mut Unobserved)
    }

    /// Evaluates it, and tells the observer the value of each expression in it that is evaluated.
    pub fn evaluate_observed<'a, O: Observer>(
        &'a self,
        context: &Context<'a>,
        activation: &Activation<'a>,
        observer: &mut O,
    ) -> Evaluation<'a> {
        let mut few = [Local::NOTHING; FEW];
        let locals = match few.get_mut(..self.local_count) {
            Some(few) => few,
            None => context.arena.filled(self.local_count, Local::NOTHING),
        };
        Run::new(self, context, activation, locals, observer).evaluate(self.root)
    }

    fn node(&self, id: NodeId) -> &Node {
        const NOTHING: &Node = &Node::Constant(Constant::Null);
        self.nodes.get(id.index()).unwrap_or(NOTHING)
    }

    fn origin(&self, id: NodeId) -> ExprId {
        self.origins.get(id.index()).copied().unwrap_or(ExprId(0))
    }
}

/// Plans an expression; the error is the reference's text after `program instantiation failed: `.
pub(crate) fn plan(environment: &Environment, checked: &Checked) -> Result<Program, String> {
    build::Planner::new(environment, checked).program()
}
