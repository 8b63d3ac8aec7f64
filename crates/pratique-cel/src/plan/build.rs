//! The planner: translates a checked tree to the nodes of a program.
//!
//! Upstream: github.com/google/cel-go, interpreter/planner.go

mod attributes;
mod calls;
mod comprehensions;
mod literals;

use std::sync::Arc;

use super::Program;
use super::names::NameInterner;
use super::node::{AttributeRoot, LocalIndex, NodeId, PlanNode};
use crate::ast::{Expr, ExprId};
use crate::boxed_slice::into_boxed_exact;
use crate::checker::{CheckedAst, Reference};
use crate::constant::Constant;
use crate::environment::{Environment, Slot};
use crate::error::PlanError;
use crate::types::Type;

/// Plans one expression.
pub(super) struct ExpressionPlanner<'p> {
    environment: &'p Environment,
    checked: &'p CheckedAst,
    nodes: Vec<PlanNode>,
    origins: Vec<ExprId>,
    /// The variables of the enclosing comprehensions, outermost first, as the checker numbers them.
    scope: Vec<LocalIndex>,
    local_count: LocalIndex,
    reads: Vec<Slot>,
}

impl<'p> ExpressionPlanner<'p> {
    pub(super) fn new(environment: &'p Environment, checked: &'p CheckedAst) -> Self {
        ExpressionPlanner {
            environment,
            checked,
            nodes: Vec::with_capacity(checked.ast.len()),
            origins: Vec::with_capacity(checked.ast.len()),
            scope: Vec::new(),
            local_count: 0,
            reads: Vec::new(),
        }
    }

    pub(super) fn program(mut self) -> Result<Program, PlanError> {
        let root = self.plan(self.checked.ast.root)?;
        NameInterner::with(|names| self.nodes.iter_mut().for_each(|node| node.compact(names)));
        Ok(Program {
            nodes: into_boxed_exact(self.nodes),
            origins: into_boxed_exact(self.origins),
            root,
            local_count: self.local_count as usize,
            is_of_cel_go_0_33: self.environment.is_of_cel_go_0_33(),
            result_type: self.checked.result_type().clone(),
            reads_mask: self
                .reads
                .iter()
                .filter_map(|slot| 1u64.checked_shl(slot.index))
                .sum(),
            reads: self.reads.into(),
            variables: self.environment.variables().clone(),
        })
    }

    /// Plans an expression. Operands are planned first, so that their errors take precedence.
    fn plan(&mut self, id: ExprId) -> Result<NodeId, PlanError> {
        let checked = self.checked;
        match checked.ast.expr(id) {
            Expr::Literal(literal) => Ok(self.add(id, PlanNode::Constant(literal.into()))),
            Expr::Ident(name) => self.plan_name(id, name),
            Expr::Select {
                operand,
                field,
                test_only,
            } => self.plan_select(id, *operand, field, *test_only),
            Expr::Call {
                function,
                target,
                args,
            } => self.plan_call(id, function, *target, args),
            Expr::List { elements, optional } => self.plan_list(id, elements, optional),
            Expr::Map(entries) => self.plan_map(id, entries),
            Expr::Struct { type_name, fields } => self.plan_struct(id, type_name, fields),
            Expr::Comprehension(comprehension) => self.plan_comprehension(id, comprehension),
        }
    }

    /// A variable, a type or a constant.
    fn plan_name(&mut self, id: ExprId, name: &Arc<str>) -> Result<NodeId, PlanError> {
        let checked = self.checked;
        let root = match checked.reference(id) {
            Some(Reference::Variable(slot)) => {
                if !self.reads.contains(slot) {
                    self.reads.push(*slot);
                }
                let name = name.trim_start_matches('.').into();
                AttributeRoot::Variable { slot: *slot, name }
            }
            Some(Reference::Local(index)) => {
                self.check_names_no_type(id, name)?;
                AttributeRoot::Local(self.local(*index))
            }
            Some(Reference::Type(of)) => {
                let of = Constant::Type(of.runtime_name().into());
                return Ok(self.add(id, PlanNode::Constant(of)));
            }
            Some(Reference::Constant(literal)) => return Ok(self.add(id, PlanNode::Constant(literal.into()))),
            Some(Reference::UndefinedType(name)) => {
                return Err(PlanError::UndefinedType(name.clone()));
            }
            Some(Reference::Overloads(..)) | None => return Err(PlanError::Undeclared(name.clone())),
        };
        Ok(self.add_attribute(id, root))
    }

    /// The reference resolves the name of a value that is a type to that type, even where it is a variable of a macro.
    fn check_names_no_type(&self, id: ExprId, name: &str) -> Result<(), PlanError> {
        match self.checked.type_of(id) {
            Type::Type(_) => Err(PlanError::UndefinedType(name.into())),
            _ => Ok(()),
        }
    }

    fn add(&mut self, origin: ExprId, node: PlanNode) -> NodeId {
        // A program has no more nodes than its tree, whose ids are 32 bits.
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.origins.push(origin);
        id
    }

    fn node(&self, id: NodeId) -> Option<&PlanNode> {
        self.nodes.get(id.index())
    }

    fn constant(&self, id: NodeId) -> Option<&Constant> {
        match self.node(id) {
            Some(PlanNode::Constant(constant)) => Some(constant),
            _ => None,
        }
    }

    /// The index of a variable by its position in the checker's stack.
    fn local(&self, index: u32) -> LocalIndex {
        self.scope.get(index as usize).copied().unwrap_or(0)
    }

    fn new_local(&mut self) -> LocalIndex {
        self.local_count += 1;
        self.local_count - 1
    }
}
