//! Strings as sequences of Unicode code points: access and search by index.
//!
//! Upstream: github.com/google/cel-go, ext/strings.go

/// An index or range outside a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IndexError {
    /// Before the first character or after the end.
    #[error("index out of range: {0}")]
    OutOfRange(i64),
    /// A range that ends before it starts.
    #[error("invalid substring range. start: {start}, end: {end}")]
    Inverted {
        /// Where it should start.
        start: i64,
        /// Where it should end.
        end: i64,
    },
}

/// The character at an index, as a string; the empty string at the end.
pub(crate) fn char_at(text: &str, index: i64) -> Result<&str, IndexError> {
    let tail = substring(text, index)?;
    let end = tail.chars().next().map_or(0, char::len_utf8);
    Ok(tail.get(..end).unwrap_or(tail))
}

/// The text from an index on.
pub(crate) fn substring(text: &str, start: i64) -> Result<&str, IndexError> {
    let bytes = offset(text, start).ok_or(IndexError::OutOfRange(start))?;
    Ok(text.get(bytes..).unwrap_or(""))
}

/// The text from an index up to another.
pub(crate) fn substring_range(text: &str, start: i64, end: i64) -> Result<&str, IndexError> {
    if start > end {
        return Err(IndexError::Inverted { start, end });
    }
    let tail = substring(text, start)?;
    let bytes = offset(tail, end.saturating_sub(start)).ok_or(IndexError::OutOfRange(end))?;
    Ok(tail.get(..bytes).unwrap_or(tail))
}

/// The index of the first occurrence, or −1.
pub(crate) fn index_of(text: &str, pattern: &str) -> i64 {
    text.find(pattern).map_or(-1, |bytes| count(text, bytes))
}

/// The index of the first occurrence at or after an index, or −1. The empty pattern is found at the index, or at the end.
pub(crate) fn index_of_from(text: &str, pattern: &str, start: i64) -> Result<i64, IndexError> {
    search_from(text, pattern, start, |skipped| {
        let tail = text.get(skipped..).unwrap_or("");
        tail.find(pattern)
            .map_or(-1, |bytes| start.saturating_add(count(tail, bytes)))
    })
}

/// The index of the last occurrence, or −1. The empty pattern is found at the end.
pub(crate) fn last_index_of(text: &str, pattern: &str) -> i64 {
    text.rfind(pattern).map_or(-1, |bytes| count(text, bytes))
}

/// The index of the last occurrence that starts at or before an index, or −1; also −1 where the index is not that of
/// a character. The empty pattern is found at the index, or at the end.
pub(crate) fn last_index_of_from(text: &str, pattern: &str, start: i64) -> Result<i64, IndexError> {
    search_from(text, pattern, start, |bytes| {
        if pattern.is_empty() {
            return start;
        }
        if bytes == text.len() {
            return -1;
        }
        // An occurrence that starts at or before the index ends within the head.
        let end = text.floor_char_boundary(bytes.saturating_add(pattern.len()));
        last_index_of(text.get(..end).unwrap_or(text), pattern)
    })
}

/// Searches from the byte at which the character at an index starts. Behind the text, only the empty pattern is found, at its
/// end.
fn search_from(
    text: &str,
    pattern: &str,
    start: i64,
    search: impl FnOnce(usize) -> i64,
) -> Result<i64, IndexError> {
    match offset(text, start) {
        Some(bytes) => Ok(search(bytes)),
        None if start < 0 => Err(IndexError::OutOfRange(start)),
        None if pattern.is_empty() => Ok(count(text, text.len())),
        None => Ok(-1),
    }
}

/// The byte at which the character at an index starts, or the end of the text.
fn offset(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok().filter(|index| *index <= text.len())?;
    if text.is_ascii() {
        return Some(index);
    }
    let mut starts = text.char_indices().map(|(bytes, _)| bytes).chain([text.len()]);
    starts.nth(index)
}

/// The number of characters in the first bytes.
fn count(text: &str, bytes: usize) -> i64 {
    let characters = text.get(..bytes).map_or(0, |prefix| prefix.chars().count());
    i64::try_from(characters).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<T: ToString>(result: Result<T, IndexError>) -> String {
        result.map_or_else(|error| error.to_string(), |value| value.to_string())
    }

    #[test]
    fn characters() {
        let check = |text, index, expected: &str| assert_eq!(shown(char_at(text, index)), expected);
        check("tacocat", 3, "o");
        check("©αT", 1, "α");
        check("©αT", 3, "");
        check("©αT", 4, "index out of range: 4");
        check("©αT", -1, "index out of range: -1");
        check("", 0, "");
    }

    #[test]
    fn substrings() {
        let check = |text, start, end: Option<i64>, expected: &str| {
            let result = end.map_or_else(|| substring(text, start), |end| substring_range(text, start, end));
            assert_eq!(shown(result), expected);
        };
        check("tacocat", 4, None, "cat");
        check("ta©o©αT", 2, Some(6), "©o©α");
        check("ta©o©αT", 7, Some(7), "");
        check("tacocat", 40, None, "index out of range: 40");
        check("tacocat", -1, Some(3), "index out of range: -1");
        check("tacocat", 3, Some(50), "index out of range: 50");
        check(
            "tacocat",
            49,
            Some(1),
            "invalid substring range. start: 49, end: 1",
        );
        check(
            "tacocat",
            i64::MIN,
            Some(i64::MAX),
            "index out of range: -9223372036854775808",
        );
    }

    #[test]
    fn first_occurrences() {
        let check = |text, pattern, start, expected: &str| {
            assert_eq!(shown(index_of_from(text, pattern, start)), expected)
        };
        check("tacocat", "ac", 3, "-1");
        check("tacocat", "a", 3, "5");
        check("ta©o©αT", "©", 3, "4");
        check("tacocat", "", 3, "3");
        check("tacocat", "", 30, "7");
        check("tacocat", "t", 30, "-1");
        check("tacocat", "t", -1, "index out of range: -1");
        assert_eq!(index_of("ta©o©αT", "αT"), 5);
        assert_eq!(index_of("ta", "tac"), -1);
        assert_eq!(index_of("", ""), 0);
    }

    #[test]
    fn last_occurrences() {
        let check = |text, pattern, start, expected: &str| {
            assert_eq!(shown(last_index_of_from(text, pattern, start)), expected)
        };
        check("tacocat", "at", 5, "5");
        check("tacocat", "at", 4, "-1");
        check("ta©o©αT", "©", 3, "2");
        check("ta©o©αT", "©α", 6, "4");
        check("ta©o©αT", "α", 4, "-1");
        check("tacocat", "a", 7, "-1");
        check("tacocat", "", 7, "7");
        check("tacocat", "", 8, "7");
        check("tacocat", "", 2, "2");
        check("", "a", 0, "-1");
        check("tacocat", "a", -1, "index out of range: -1");
        check("bananas dance", "na nas", 5, "-1");
        check("éé", "é", 0, "0");
        check("aéa", "aé", 1, "0");
        assert_eq!(last_index_of("ta©o©αT", "©"), 4);
        assert_eq!(last_index_of("tacocat", ""), 7);
        assert_eq!(last_index_of("a", "bb"), -1);
    }
}
