//! The different expressions of the policies of a batch.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_cel::internal::into_boxed_exact;
use pratique_expression::{BoundExpression, Expression, InputSet};

use crate::memo::entry::ExpressionAddress;

/// The expressions of the policies of a batch, each once.
#[derive(Debug, Default)]
pub(crate) struct BatchExpressions {
    expressions: Vec<BatchExpression>,
    indices: HashMap<(ExpressionAddress, ExpressionRole), u32, RandomState>,
    /// The inputs of match conditions, if there are any.
    condition_inputs: Option<InputSet>,
    /// The inputs of all other expressions.
    other_inputs: InputSet,
}

/// An expression of one policy or more.
#[derive(Debug)]
pub(super) struct BatchExpression {
    pub(super) bound: Arc<BoundExpression>,
    /// The expression of that: every request reads it.
    pub(super) expression: Arc<Expression>,
    pub(super) role: ExpressionRole,
    /// The position of the first policy that has it, whose variables it is evaluated with.
    pub(super) owner: u32,
}

/// Whether an expression is a match condition, which has fewer inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ExpressionRole {
    Condition,
    /// A validation or its message.
    Other,
}

impl BatchExpressions {
    /// The index of an expression, which is added if it is new.
    pub(super) fn add(&mut self, bound: &Arc<BoundExpression>, role: ExpressionRole, owner: u32) -> u32 {
        let next = self.expressions.len() as u32;
        let index = *self
            .indices
            .entry((ExpressionAddress::new(bound), role))
            .or_insert(next);
        if index == next {
            let set = match role {
                ExpressionRole::Condition => self.condition_inputs.get_or_insert_default(),
                ExpressionRole::Other => &mut self.other_inputs,
            };
            *set = set.union(bound.inputs());
            self.expressions.push(BatchExpression {
                expression: bound.expression().clone(),
                bound: bound.clone(),
                role,
                owner,
            });
        }
        index
    }

    /// Takes no more memory than needed.
    pub(super) fn shrunk(mut self) -> Self {
        self.indices.shrink_to_fit();
        BatchExpressions {
            expressions: into_boxed_exact(self.expressions).into(),
            ..self
        }
    }

    pub(super) fn get(&self, index: u32) -> Option<&BatchExpression> {
        self.expressions.get(index as usize)
    }

    /// The index of an expression in a role, and the expression.
    pub(super) fn find(
        &self,
        id: ExpressionAddress,
        role: ExpressionRole,
    ) -> Option<(u32, &BatchExpression)> {
        let index = *self.indices.get(&(id, role))?;
        Some((index, self.get(index)?))
    }

    pub(super) fn len(&self) -> usize {
        self.expressions.len()
    }

    /// The inputs of match conditions, if there are any.
    pub(super) fn condition_inputs(&self) -> Option<InputSet> {
        self.condition_inputs
    }

    /// The inputs of validations and messages.
    pub(super) fn other_inputs(&self) -> InputSet {
        self.other_inputs
    }
}
