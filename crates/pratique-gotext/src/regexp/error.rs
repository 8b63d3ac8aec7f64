//! Errors of patterns, with Go's messages.

/// The error of a pattern that Go refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {kind}: `{excerpt}`")]
pub struct Error {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The part of the pattern that Go shows: perhaps all of it.
    pub excerpt: String,
}

/// The kinds of faults, in the order of Go's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A range such as `z-a`, or a class with an unknown name.
    #[error("invalid character class range")]
    ClassRange,
    /// An escape that means nothing.
    #[error("invalid escape sequence")]
    Escape,
    /// A named group without a proper name.
    #[error("invalid named capture")]
    NamedCapture,
    /// Something after `(?` that RE2 does not have.
    #[error("invalid or unsupported Perl syntax")]
    PerlOperator,
    /// A repetition of a repetition: `a**`.
    #[error("invalid nested repetition operator")]
    RepeatOperator,
    /// A repetition of more than a thousand, in all.
    #[error("invalid repeat count")]
    RepeatSize,
    /// `[` without `]`.
    #[error("missing closing ]")]
    MissingBracket,
    /// `(` without `)`.
    #[error("missing closing )")]
    MissingParen,
    /// A repetition of nothing.
    #[error("missing argument to repetition operator")]
    MissingRepeatArgument,
    /// A backslash at the end.
    #[error("trailing backslash at end of expression")]
    TrailingBackslash,
    /// `)` without `(`.
    #[error("unexpected )")]
    UnexpectedParen,
    /// Groups and repetitions more than a thousand deep.
    #[error("expression nests too deeply")]
    NestingDepth,
    /// Too much memory when compiled.
    #[error("expression too large")]
    Large,
}

/// Why a pattern was not compiled on behalf of a [`Meter`](super::Meter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedPattern<S> {
    /// It is none.
    Pattern(Error),
    /// The meter stopped it.
    Stopped(S),
}

impl<S> From<Error> for RefusedPattern<S> {
    fn from(error: Error) -> Self {
        RefusedPattern::Pattern(error)
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
