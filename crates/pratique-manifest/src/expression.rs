//! The seam to CEL: what an expression of a manifest is for and which variables it may name.
//!
//! This crate knows where expressions stand and how their faults are reported; compiling them is the
//! caller's, so that loading manifests needs no expression engine.

/// What an expression is for, which decides the type it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExpressionUse<'a> {
    /// A match condition of a policy or a webhook: bool.
    MatchCondition,
    /// A variable of this name: any type.
    Variable {
        /// The variable's name, without `variables.`.
        name: &'a str,
    },
    /// A validation: bool.
    Validation,
    /// A validation's message: string.
    Message,
    /// An audit annotation's value: string or null.
    AuditAnnotation,
    /// An apply configuration: `Object`.
    ApplyConfiguration,
    /// A JSON patch: list of `JSONPatch`.
    JsonPatch,
}

/// The optional variables and types that an expression may name, besides `object`, `oldObject`, `request` and
/// `namespaceObject`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Declarations {
    /// `params`.
    pub params: bool,
    /// `authorizer`.
    pub authorizer: bool,
    /// The types `Object` and `JSONPatch`.
    pub patch_types: bool,
    /// `variables`, with those compiled before by the same [`PolicyExpressions`].
    pub variables: bool,
}

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Whether the expression is at fault or the engine.
    pub kind: ExpressionErrorKind,
    /// The server's words, after the field and the quoted expression: `compilation failed: ERROR: <input>:1:5: …`.
    pub detail: String,
    /// The faults one by one, each with its place. Empty when the expression as a whole is at fault.
    pub issues: Vec<ExpressionIssue>,
    /// What would mend the expression as a whole, where that is known.
    pub help: Option<String>,
}

/// The class of an [`ExpressionError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionErrorKind {
    /// The expression is empty where one is needed.
    Required,
    /// The expression is at fault.
    Invalid,
    /// The engine is at fault.
    Internal,
}

/// One fault in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionIssue {
    /// What is wrong, without place and source.
    pub message: String,
    /// The byte offset in the expression's text.
    pub offset: usize,
    /// How many bytes the faulty word or operator has; 0 for the end of the text.
    pub length: usize,
    /// What would mend it, where that is known.
    pub help: Option<String>,
}

/// Compiles the expressions of manifests, as the server does to validate them. Several policies may be compiled at the
/// same time.
pub trait ExpressionCompiler: Sync {
    /// Begins a policy or a webhook configuration.
    fn begin(&self) -> Box<dyn PolicyExpressions + '_>;
}

/// The expressions of one policy or webhook configuration, which share its variables.
pub trait PolicyExpressions {
    /// Compiles an expression and checks its type. A variable is declared for the expressions that follow,
    /// as `dyn` if it does not compile.
    ///
    /// # Errors
    /// If the expression does not compile or has a type that its use does not take.
    fn compile(
        &mut self,
        text: &str,
        usage: ExpressionUse<'_>,
        declarations: Declarations,
    ) -> Result<(), ExpressionError>;
}

/// Accepts every expression: for those who only want the rest of validation.
#[derive(Clone, Copy, Debug, Default)]
pub struct UncheckedExpressions;

impl ExpressionCompiler for UncheckedExpressions {
    fn begin(&self) -> Box<dyn PolicyExpressions + '_> {
        Box::new(Self)
    }
}

impl PolicyExpressions for UncheckedExpressions {
    fn compile(&mut self, _: &str, _: ExpressionUse<'_>, _: Declarations) -> Result<(), ExpressionError> {
        Ok(())
    }
}
