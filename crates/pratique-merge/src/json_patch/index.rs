//! Array indices, read as Go's `strconv.Atoi` reads them.

/// The index that a reference token names; the error is Go's text.
pub(super) fn parse(token: &str) -> Result<i64, String> {
    let digits = token.strip_prefix(['+', '-']).unwrap_or(token);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("strconv.Atoi: parsing {token:?}: invalid syntax"));
    }
    token
        .parse()
        .map_err(|_| format!("strconv.Atoi: parsing {token:?}: value out of range"))
}

/// An index that may count from the end, as a position below `length`.
pub(super) fn within(index: i64, length: usize) -> Result<usize, String> {
    let invalid = || format!("Unable to access invalid index: {index}: invalid index referenced");
    let from_start = if index < 0 {
        index.checked_add_unsigned(length as u64)
    } else {
        Some(index)
    };
    let position = from_start
        .and_then(|index| usize::try_from(index).ok())
        .ok_or_else(invalid)?;
    if position < length {
        Ok(position)
    } else {
        Err(invalid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_read_as_go_reads_them() {
        for (token, index) in [("0", 0), ("01", 1), ("+1", 1), ("-1", -1)] {
            assert_eq!(parse(token), Ok(index));
        }
        assert_eq!(
            parse("x").unwrap_err(),
            r#"strconv.Atoi: parsing "x": invalid syntax"#
        );
        assert_eq!(
            parse("").unwrap_err(),
            r#"strconv.Atoi: parsing "": invalid syntax"#
        );
        assert_eq!(
            parse("99999999999999999999").unwrap_err(),
            r#"strconv.Atoi: parsing "99999999999999999999": value out of range"#
        );
    }

    #[test]
    fn negative_indices_count_from_the_end() {
        assert_eq!(within(-1, 3), Ok(2));
        assert_eq!(within(-3, 3), Ok(0));
        assert_eq!(
            within(-4, 3).unwrap_err(),
            "Unable to access invalid index: -4: invalid index referenced"
        );
        assert!(within(3, 3).is_err());
    }
}
