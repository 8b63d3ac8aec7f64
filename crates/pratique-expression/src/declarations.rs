//! The uses of expressions, and the variables and types that they may name.

/// The variables and types that an expression may name besides `object`, `oldObject`, `request` and `namespaceObject`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Declarations {
    /// `params`
    pub params: bool,
    /// `authorizer` and `authorizer.requestResource`
    pub authorizer: bool,
    /// The types `Object…` and `JSONPatch`, with their functions.
    pub patch_types: bool,
    /// `variables`, with those compiled before.
    pub variables: bool,
}

/// The use of an expression, which decides the types that it may yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpressionPurpose {
    /// A match condition: bool.
    MatchCondition,
    /// A variable: anything.
    Variable,
    /// A validation: bool.
    Validation,
    /// A validation's message: string.
    Message,
    /// An audit annotation's value: string or null.
    AuditAnnotation,
    /// A mutation by apply configuration: `Object`.
    ApplyConfiguration,
    /// A mutation by JSON patch: list of `JSONPatch`.
    JsonPatch,
}
