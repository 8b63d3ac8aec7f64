//! Errors of patterns, with Go's messages.

use std::fmt::{self, Display, Formatter};

use crate::error::Fault;

/// The error of a pattern that Go refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The part of the pattern that Go shows: perhaps all of it.
    pub excerpt: String,
}

/// The kinds of faults, in the order of Go's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A range such as `z-a`, or a class with an unknown name.
    ClassRange,
    /// An escape that means nothing.
    Escape,
    /// A named group without a proper name.
    NamedCapture,
    /// Something after `(?` that RE2 does not have.
    PerlOperator,
    /// A repetition of a repetition: `a**`.
    RepeatOperator,
    /// A repetition of more than a thousand, in all.
    RepeatSize,
    /// `[` without `]`.
    MissingBracket,
    /// `(` without `)`.
    MissingParen,
    /// A repetition of nothing.
    MissingRepeatArgument,
    /// A backslash at the end.
    TrailingBackslash,
    /// `)` without `(`.
    UnexpectedParen,
    /// Groups and repetitions more than a thousand deep.
    NestingDepth,
    /// Too much memory when compiled.
    Large,
}

/// Why a pattern was not compiled.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It is none.
    Pattern(Error),
    /// The evaluation was stopped.
    Stopped(Fault),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Pattern(error)
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused::Stopped(fault)
    }
}

impl std::error::Error for Error {}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "error parsing regexp: {}: `{}`",
            self.kind, self.excerpt
        )
    }
}

impl Display for ErrorKind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ErrorKind::ClassRange => "invalid character class range",
            ErrorKind::Escape => "invalid escape sequence",
            ErrorKind::NamedCapture => "invalid named capture",
            ErrorKind::PerlOperator => "invalid or unsupported Perl syntax",
            ErrorKind::RepeatOperator => "invalid nested repetition operator",
            ErrorKind::RepeatSize => "invalid repeat count",
            ErrorKind::MissingBracket => "missing closing ]",
            ErrorKind::MissingParen => "missing closing )",
            ErrorKind::MissingRepeatArgument => "missing argument to repetition operator",
            ErrorKind::TrailingBackslash => "trailing backslash at end of expression",
            ErrorKind::UnexpectedParen => "unexpected )",
            ErrorKind::NestingDepth => "expression nests too deeply",
            ErrorKind::Large => "expression too large",
        })
    }
}

/// A failure with the part of the pattern from `from` up to where `rest` begins.
pub(super) fn between<T>(kind: ErrorKind, from: &str, rest: &str) -> Result<T, Error> {
    let excerpt = from.get(..from.len().saturating_sub(rest.len())).unwrap_or(from);
    whole(kind, excerpt)
}

/// A failure that shows an excerpt as it is.
pub(super) fn whole<T>(kind: ErrorKind, excerpt: &str) -> Result<T, Error> {
    let excerpt = excerpt.to_owned();
    Err(Error { kind, excerpt })
}
