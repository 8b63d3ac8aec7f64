//! The formatting of `string.format`: clauses such as `%s` and `%.2f` in a text, each for one argument.

mod clause;
pub(crate) mod english;
mod error;

pub(crate) use clause::FormatClause;
pub(crate) use error::{ArgumentError, FormatError, MAX_DEPTH};

/// Copies a text to `out`, and calls `write` with each clause and the index of its argument. Gives the number of clauses.
pub(crate) fn interpolate<E>(
    text: &str,
    arguments: usize,
    out: &mut String,
    mut write: impl FnMut(FormatClause, usize, &mut String) -> Result<(), E>,
) -> Result<usize, FormatError<E>> {
    let mut rest = text;
    let mut index = 0;
    while let Some((literal, after)) = rest.split_once('%') {
        out.push_str(literal);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        if index >= arguments {
            return Err(FormatError::MissingArgument(index));
        }
        if after.is_empty() {
            return Err(FormatError::UnexpectedEnd);
        }
        let (clause, after) = FormatClause::parse(after)?;
        write(clause, index, out).map_err(FormatError::Argument)?;
        rest = after;
        index += 1;
    }
    out.push_str(rest);
    Ok(index)
}
