//! Errors of formatting, with the reference's messages.
//!
//! Upstream: cel-go, ext/formatting.go

use pratique_gotext::strconv::NumberError;

use super::clause::Clause;
use super::nested::MAX_DEPTH;

/// Why a text cannot be formatted. `E` is what goes wrong with one argument.
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

/// What is wrong with a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClauseError {
    /// A precision that the text ends in.
    #[error("error while parsing precision: could not find end of precision specifier")]
    EndlessPrecision,
    /// A precision without digits, or too large.
    #[error("error while parsing precision: error while converting precision to integer: {0}")]
    Precision(#[from] NumberError),
    /// An unknown letter.
    #[error("unrecognized formatting clause \"{0}\"")]
    Unrecognized(char),
}

/// Why an argument cannot be formatted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// A clause that is not for values of the type.
    #[error("{requirement}, was given {type_name}", requirement = clause.requirement())]
    Mismatch {
        /// The clause.
        clause: Clause,
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
    /// The argument [does not want to go on](super::Argument::moves).
    #[error("")]
    Stopped,
}

impl ArgumentError {
    pub(crate) fn mismatch(clause: Clause, type_name: &str) -> Self {
        ArgumentError::Mismatch {
            clause,
            type_name: type_name.into(),
        }
    }
}
