//! The interface to CEL: the use of an expression in a manifest and its declarations.
//!
//! This crate finds expressions and reports their errors; the caller compiles them, so that loading manifests needs no
//! expression engine.

use std::ops::Range;

use pratique_schema::Release;

/// The use of an expression, which decides its type.
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

/// The optional variables and types that an expression may use, besides `object`, `oldObject`, `request` and
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
    /// What servers of later versions declare, for an expression that is stored already.
    pub stored: bool,
}

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The class of the error.
    pub kind: ExpressionErrorKind,
    /// The server's message, after the field and the quoted expression: `compilation failed: ERROR: <input>:1:5: …`.
    pub detail: String,
    /// The errors one by one, each with its place. Empty if the error is about the whole expression.
    pub issues: Vec<ExpressionIssue>,
    /// How to fix the whole expression, if known.
    pub help: Option<String>,
}

/// The class of an [`ExpressionError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionErrorKind {
    /// The expression is empty where one is needed.
    Required,
    /// The expression is invalid.
    Invalid,
    /// The engine failed.
    Internal,
}

/// One error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionIssue {
    /// The message, without place and source.
    pub message: String,
    /// The byte offset in the expression's text.
    pub offset: usize,
    /// The length of the word or operator at fault in bytes; 0 for the end of the text.
    pub length: usize,
    /// How to fix it, if known.
    pub help: Option<ExpressionHelp>,
}

/// How to fix an error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionHelp {
    /// What to do.
    pub text: String,
    /// The change that does it, where it is one: the bytes of the expression's text, and what stands there afterwards.
    pub replacement: Option<(Range<usize>, String)>,
}

impl From<String> for ExpressionHelp {
    fn from(text: String) -> Self {
        ExpressionHelp {
            text,
            replacement: None,
        }
    }
}

/// Compiles the expressions of manifests, as the server does to validate them. Several policies may be compiled at the
/// same time.
pub trait ExpressionCompiler: Sync {
    /// Begins a policy or a webhook configuration.
    fn begin(&self) -> Box<dyn PolicyExpressions + '_>;

    /// The release of the server that it compiles for.
    fn release(&self) -> &'static Release {
        Release::latest()
    }
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

/// Compiles expressions as a server compiles those of objects that it has stored: with all that its release declares, where new
/// ones may use only what the release before has.
// Upstream: apiserver/pkg/admission/plugin/policy/validating/plugin.go, compilePolicy, by environment.StoredExpressions
pub(crate) struct StoredExpressions<'a>(pub(crate) &'a dyn ExpressionCompiler);

impl ExpressionCompiler for StoredExpressions<'_> {
    fn begin(&self) -> Box<dyn PolicyExpressions + '_> {
        Box::new(StoredPolicyExpressions(self.0.begin()))
    }

    fn release(&self) -> &'static Release {
        self.0.release()
    }
}

struct StoredPolicyExpressions<'a>(Box<dyn PolicyExpressions + 'a>);

impl PolicyExpressions for StoredPolicyExpressions<'_> {
    fn compile(
        &mut self,
        text: &str,
        usage: ExpressionUse<'_>,
        declarations: Declarations,
    ) -> Result<(), ExpressionError> {
        let declarations = Declarations {
            stored: true,
            ..declarations
        };
        self.0.compile(text, usage, declarations)
    }
}

/// Accepts every expression, for callers that need only the rest of validation.
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
