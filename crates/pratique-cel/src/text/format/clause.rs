//! Clauses: `%s`, `%.2f` and their like.

use pratique_gotext::strconv::{NumberError, atoi};

/// A formatting clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatClause {
    /// `%s`: any value as a string.
    String,
    /// `%d`: an integer.
    Decimal,
    /// `%f`: a double with digits after the point, `%.2f` with so many.
    Fixed(Option<i64>),
    /// `%e`: a double with an exponent.
    Scientific(Option<i64>),
    /// `%b`: an integer or boolean in base 2.
    Binary,
    /// `%x` and `%X`: an integer, string or bytes in base 16.
    Hex {
        /// With `A` to `F`.
        upper: bool,
    },
    /// `%o`: an integer in base 8.
    Octal,
}

/// Why a clause cannot be parsed.
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

impl FormatClause {
    /// The reference's message for an argument that does not fit.
    pub(super) fn requirement(self) -> &'static str {
        match self {
            FormatClause::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, \
                 durations, and timestamps"
            }
            FormatClause::Decimal => "decimal clause can only be used on integers",
            FormatClause::Fixed(_) => "fixed-point clause can only be used on doubles",
            FormatClause::Scientific(_) => "scientific clause can only be used on doubles",
            FormatClause::Binary => "only integers and bools can be formatted as binary",
            FormatClause::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            FormatClause::Octal => "octal clause can only be used on integers",
        }
    }

    /// The clause after a `%`, and the text after it.
    pub(super) fn parse(text: &str) -> Result<(FormatClause, &str), ClauseError> {
        let (precision, rest) = match text.strip_prefix('.') {
            Some(rest) => parse_precision(rest)?,
            None => (None, text),
        };
        // The letter is a byte; of a character of several, its first is shown.
        let letter = rest.bytes().next().map_or('\u{0}', char::from);
        let clause = match letter {
            's' => FormatClause::String,
            'd' => FormatClause::Decimal,
            'f' => FormatClause::Fixed(precision),
            'e' => FormatClause::Scientific(precision),
            'b' => FormatClause::Binary,
            'x' => FormatClause::Hex { upper: false },
            'X' => FormatClause::Hex { upper: true },
            'o' => FormatClause::Octal,
            _ => return Err(ClauseError::Unrecognized(letter)),
        };
        Ok((clause, rest.get(1..).unwrap_or("")))
    }
}

fn parse_precision(text: &str) -> Result<(Option<i64>, &str), ClauseError> {
    let end = text
        .find(|next: char| !next.is_ascii_digit())
        .ok_or(ClauseError::EndlessPrecision)?;
    let (digits, rest) = text.split_at_checked(end).ok_or(ClauseError::EndlessPrecision)?;
    Ok((Some(atoi(digits)?), rest))
}
