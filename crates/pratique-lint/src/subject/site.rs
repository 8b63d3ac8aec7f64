//! The expressions of a manifest.

use pratique_expression::{Declarations, ExpressionPurpose};
use pratique_manifest::PathStep;
use pratique_sample::{ExpressionId, PolicyExpression};

use super::origin::path;

/// An expression and its use.
#[derive(Clone, Debug)]
pub(crate) struct ExpressionSite<'m> {
    pub(crate) path: Vec<PathStep>,
    pub(crate) text: &'m str,
    pub(crate) id: ExpressionId,
    pub(crate) usage: ExpressionPurpose,
    pub(crate) declarations: Declarations,
}

impl<'m> ExpressionSite<'m> {
    pub(super) fn new(expression: PolicyExpression<'m>) -> Self {
        ExpressionSite {
            path: path(&expression.field),
            text: expression.text,
            id: expression.id,
            usage: expression.usage,
            declarations: expression.declarations,
        }
    }

    /// The name of the variable that it is the value of, if it is one. All other expressions are evaluated for every
    /// matching request, not only when another one reads them.
    pub(crate) fn variable(&self) -> Option<&str> {
        match &self.id {
            ExpressionId::Variable(name) => Some(name),
            _ => None,
        }
    }
}
