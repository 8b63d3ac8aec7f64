//! Array indices, read as Go's `strconv.Atoi` reads them.

use pratique_gotext::strconv::{NumberError, atoi};

/// Why a token does not name an element of an array.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IndexError {
    /// The token is not a number of 64 bits.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// The array has no such element.
    #[error("Unable to access invalid index: {0}: invalid index referenced")]
    NoElement(i64),
}

/// The index that a reference token names.
pub(super) fn parse(token: &str) -> Result<i64, IndexError> {
    Ok(atoi(token)?)
}

/// The position below `length` that an index stands for, which may count from the end.
pub(super) fn within(index: i64, length: usize) -> Result<usize, IndexError> {
    let from_start = if index < 0 {
        index.checked_add_unsigned(length as u64)
    } else {
        Some(index)
    };
    from_start
        .and_then(|index| usize::try_from(index).ok())
        .filter(|position| *position < length)
        .ok_or(IndexError::NoElement(index))
}

/// The position below `length` that a token names.
pub(super) fn position(token: &str, length: usize) -> Result<usize, IndexError> {
    within(parse(token)?, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error<T: std::fmt::Debug>(result: Result<T, IndexError>, expected: &str) {
        assert_eq!(result.unwrap_err().to_string(), expected);
    }

    #[test]
    fn indices_read_as_go_reads_them() {
        for (token, index) in [("0", 0), ("01", 1), ("+1", 1), ("-1", -1)] {
            assert_eq!(parse(token), Ok(index));
        }
        check_error(parse("x"), r#"strconv.Atoi: parsing "x": invalid syntax"#);
        check_error(parse(""), r#"strconv.Atoi: parsing "": invalid syntax"#);
        check_error(
            parse("99999999999999999999"),
            r#"strconv.Atoi: parsing "99999999999999999999": value out of range"#,
        );
    }

    #[test]
    fn negative_indices_count_from_the_end() {
        assert_eq!(within(-1, 3), Ok(2));
        assert_eq!(within(-3, 3), Ok(0));
        check_error(
            within(-4, 3),
            "Unable to access invalid index: -4: invalid index referenced",
        );
        assert!(within(3, 3).is_err());
    }
}
