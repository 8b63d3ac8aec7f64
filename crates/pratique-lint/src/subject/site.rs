//! The places of a manifest where expressions stand.

use pratique_expression::Declarations;
use pratique_manifest::Step;

/// An expression and what it is for.
#[derive(Clone, Debug)]
pub(crate) struct Site<'m> {
    pub(crate) path: Vec<Step>,
    pub(crate) text: &'m str,
    pub(crate) role: Role<'m>,
    pub(crate) declarations: Declarations,
}

/// What an expression is for.
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
    /// Whether the expression is evaluated when a request matches, and not only when another one asks for it.
    pub(crate) fn is_root(self) -> bool {
        !matches!(self, Role::Variable(_))
    }
}
