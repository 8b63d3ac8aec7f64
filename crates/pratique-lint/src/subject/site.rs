//! The expressions of a manifest.

use pratique_expression::Declarations;
use pratique_manifest::Step;

/// An expression and its role.
#[derive(Clone, Debug)]
pub(crate) struct Site<'m> {
    pub(crate) path: Vec<Step>,
    pub(crate) text: &'m str,
    pub(crate) role: Role<'m>,
    pub(crate) declarations: Declarations,
}

/// The role of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role<'m> {
    /// A match condition.
    Condition,
    /// The variable of a name.
    Variable(&'m str),
    /// A validation.
    Validation,
    /// The message of the validation before it.
    Message,
    /// An audit annotation's value.
    Annotation,
    /// An apply configuration.
    ApplyConfiguration,
    /// A JSON patch.
    JsonPatch,
}

impl Role<'_> {
    /// Whether the expression is evaluated for every matching request, not only when another expression reads it.
    pub(crate) fn is_root(self) -> bool {
        !matches!(self, Role::Variable(_))
    }
}
