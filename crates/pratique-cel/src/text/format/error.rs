//! Errors of formatting, with the reference's messages.
//!
//! Upstream: cel-go, ext/formatting.go

use super::clause::{ClauseError, FormatClause};

/// The maximum depth of lists and maps: that of the input, and as much again for literals around it.
pub(crate) const MAX_DEPTH: usize = 2 * pratique_json::MAX_DEPTH;

/// Why a text cannot be formatted. `E` is the error of a single argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError<E> {
    /// There are more clauses than arguments.
    #[error("index {0} out of range")]
    MissingArgument(usize),
    /// A `%` at the end.
    #[error("unexpected end of string")]
    UnexpectedEnd,
    /// A clause that is none.
    #[error("could not parse formatting clause: {0}")]
    Clause(#[from] ClauseError),
    /// A clause does not fit its argument.
    #[error("error during formatting: {0}")]
    Argument(E),
}

/// Why an argument cannot be formatted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// A clause that is not for values of the type.
    #[error("{requirement}, was given {type_name}", requirement = clause.requirement())]
    Mismatch {
        /// The clause.
        clause: FormatClause,
        /// The type of the argument.
        type_name: Box<str>,
    },
    /// A member of a list or map that has no text.
    #[error("no formatting function for {0}")]
    Member(Box<str>),
    /// A key of a map that has no text.
    #[error("no formatting function for map key of type {0}")]
    Key(Box<str>),
    /// Bytes that are no text.
    #[error("could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string")]
    InvalidUtf8,
    /// Lists and maps in each other.
    #[error("lists and maps nested more than {MAX_DEPTH} deep")]
    TooDeep,
}

impl ArgumentError {
    pub(crate) fn mismatch(clause: FormatClause, type_name: &str) -> Self {
        ArgumentError::Mismatch {
            clause,
            type_name: type_name.into(),
        }
    }
}
