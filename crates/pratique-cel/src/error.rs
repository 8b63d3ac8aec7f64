//! Errors of compilation and evaluation.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use pratique_gotext::regexp;

use crate::source::{Position, Source};
use crate::unknown_value::UnknownValue;

/// An error at a place in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where it is.
    pub position: Position,
    /// The reference's message.
    pub message: String,
    /// The declared name that is most like an unknown one ("did you mean").
    pub meant: Option<Box<str>>,
}

impl Issue {
    /// A fault at a place.
    pub fn new(position: Position, message: impl Into<String>) -> Self {
        Issue {
            position,
            message: message.into(),
            meant: None,
        }
    }
}

/// The number of issues of an expression that are shown; further ones are only counted.
pub(crate) const SHOWN_ISSUES: usize = 100;

/// Sorts the issues that are shown by their positions.
pub(crate) fn in_order(mut issues: Vec<Issue>) -> Vec<Issue> {
    let shown_count = issues.len().min(SHOWN_ISSUES);
    if let Some(shown_issues) = issues.get_mut(..shown_count) {
        shown_issues.sort_by_key(|issue| issue.position);
    }
    issues
}

/// Why an expression does not compile.
#[derive(Clone, Debug)]
pub enum CompileError {
    /// Faults of syntax or type, in order, to be shown with the source. Prefixed `compilation failed: ` by callers.
    Issues {
        /// The text of the expression.
        source: Arc<Source>,
        /// At least one fault, in order of position.
        issues: Vec<Issue>,
    },
    /// An error of planning; shown as `program instantiation failed: …`, without a snippet.
    Plan(PlanError),
    /// A field was used that has no type, which the checker lets pass.
    Untyped,
}

/// Why a checked expression has no program. Shown with the reference's messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No overload of a function fits.
    #[error("no such overload: {0}")]
    NoSuchOverload(Arc<str>),
    /// A name is not declared.
    #[error("undeclared reference to '{0}'")]
    Undeclared(Arc<str>),
    /// A name of a type has no value.
    #[error("reference to undefined type: {0}")]
    UndefinedType(Arc<str>),
    /// The type of a struct literal is not declared.
    #[error("unknown type: {0}")]
    UnknownType(Arc<str>),
    /// A constant key has a type that no key has, by the reference's name of the type.
    #[error("invalid qualifier type: {0}")]
    InvalidKey(&'static str),
    /// A constant pattern is not a regular expression.
    #[error("{0}")]
    Pattern(Box<str>),
    /// A constant cannot be converted.
    #[error(transparent)]
    Conversion(Fault),
}

impl std::error::Error for CompileError {}

/// The reference's text: for each issue `ERROR: <input>:1:5: …`, the line of source and a caret.
impl Display for CompileError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Issues { source, issues } => {
                for (index, issue) in issues.iter().take(SHOWN_ISSUES).enumerate() {
                    if index > 0 {
                        formatter.write_str("\n")?;
                    }
                    crate::snippet::write(formatter, source, issue)?;
                }
                match issues.len().saturating_sub(SHOWN_ISSUES) {
                    0 => Ok(()),
                    more => write!(formatter, "\n{more} more errors were truncated"),
                }
            }
            CompileError::Plan(error) => write!(formatter, "program instantiation failed: {error}"),
            CompileError::Untyped => {
                formatter.write_str("unexpected compilation error: missing type conversion to proto: ")
            }
        }
    }
}

/// The error of an evaluation. One pointer wide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(Box<FaultKind>);

/// The error of a pattern, as `matches` shows it.
impl From<regexp::Error> for Fault {
    fn from(error: regexp::Error) -> Self {
        Fault::from_display(error)
    }
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A CEL error: `&&`, `||` and their like may absorb it.
    #[error("{0}")]
    Error(String),
    /// The evaluation ended early: nothing absorbs it.
    #[error("{0}")]
    Stopped(Stop),
    /// It needs a value that the host does not know: nothing absorbs it, as the value could be any.
    #[error("undecided: {0}")]
    Unknown(UnknownValue),
    /// Where the reference's own code fails; nothing absorbs that either. Shown after `internal error: `.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Why an evaluation ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// It cost more than it may.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimit,
    /// The caller interrupted it.
    #[error("operation interrupted")]
    Interrupted,
    /// It holds more memory than it may.
    #[error("operation cancelled: memory limit exceeded")]
    MemoryLimit,
    /// The memory that evaluations share is exhausted.
    #[error("operation cancelled: no memory left for evaluations")]
    MemoryBudget,
    /// The host has no answer to an authorization check yet: evaluate again when it has.
    #[error("authorization check pending")]
    Pending,
}

impl Fault {
    /// A CEL error.
    pub fn error(message: impl Into<String>) -> Self {
        Fault(Box::new(FaultKind::Error(message.into())))
    }

    /// A CEL error with the message of a Rust one.
    pub(crate) fn from_display(error: impl Display) -> Self {
        Fault::error(error.to_string())
    }

    /// A failure of the reference's own code, which users see: nothing absorbs it. The text goes without `internal error: `.
    pub fn internal(message: impl Into<String>) -> Self {
        Fault(Box::new(FaultKind::Internal(message.into())))
    }

    /// An early end.
    pub fn stop(stop: Stop) -> Self {
        Fault(Box::new(FaultKind::Stopped(stop)))
    }

    /// The end of an evaluation that needs a value that the host does not know.
    pub fn unknown(unknown: UnknownValue) -> Self {
        Fault(Box::new(FaultKind::Unknown(unknown)))
    }

    /// The error of an operator or function that does not know the types of its arguments.
    pub fn no_such_overload() -> Self {
        Fault::error("no such overload")
    }

    /// The error of a key or field that is not there.
    pub fn no_such_key(key: impl Display) -> Self {
        Fault::error(format!("no such key: {key}"))
    }

    /// How many bytes it holds.
    pub(crate) fn size(&self) -> u64 {
        match &*self.0 {
            FaultKind::Error(message) | FaultKind::Internal(message) => message.len() as u64,
            FaultKind::Stopped(_) | FaultKind::Unknown(_) => 0,
        }
    }

    /// The kind of the fault, with its message.
    pub fn kind(&self) -> &FaultKind {
        &self.0
    }

    /// Whether the evaluation was stopped, rather than that it came to an end.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(*self.0, FaultKind::Stopped(_))
    }

    /// Whether it ends the evaluation: no operator absorbs it.
    pub fn is_stop(&self) -> bool {
        matches!(
            *self.0,
            FaultKind::Stopped(_) | FaultKind::Unknown(_) | FaultKind::Internal(_)
        )
    }
}
