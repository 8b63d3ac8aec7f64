//! The indexes of a Job's Pods as texts: `1,3-5`.

use pratique_gotext::strconv::quote;

/// Whether a text is an increasing list of indexes below a number; the fault in Go's words.
// Upstream: pkg/apis/batch/validation/validation.go, validateIndexesFormat
pub(super) fn check_indexes(text: &str, completions: i64) -> Result<(), String> {
    let mut last = None;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = parse_range(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(not_increasing(last, first));
        }
        last = Some(end);
    }
    Ok(())
}

// Upstream: pkg/apis/batch/validation/validation.go, parseIndexInterval
fn parse_range(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let parse = |limit: &str| {
        let quoted = quote(limit);
        let number: i64 = limit
            .parse()
            .map_err(|_| format!("cannot convert string to integer for index: {quoted}"))?;
        if number >= completions {
            return Err(format!("too large index: {quoted}"));
        }
        Ok(number)
    };
    let mut limits = text.split('-');
    let (first, end) = (limits.next().unwrap_or_default(), limits.next());
    if limits.next().is_some() {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(text)
        ));
    }
    let first = parse(first)?;
    match end.map(parse).transpose()? {
        Some(end) if first >= end => Err(not_increasing(first, end)),
        Some(end) => Ok((first, end)),
        None => Ok((first, first)),
    }
}

fn not_increasing(previous: i64, current: i64) -> String {
    format!("non-increasing order, previous: {previous}, current: {current}")
}

/// The first index that is in both lists. Parts that are none are passed over: they are told elsewhere.
// Upstream: pkg/apis/batch/validation/validation.go, validateFailedIndexesNotOverlapCompleted
pub(super) fn find_overlap(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let ranges = |text: &str| -> Vec<(i64, i64)> {
        let parts = text.split(',');
        parts
            .filter_map(|part| parse_range(part, completions).ok())
            .collect()
    };
    let (completed, failed) = (ranges(completed), ranges(failed));
    let (mut completed, mut failed) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some((from, to)), Some((other_from, other_to))) = (completed.peek(), failed.peek()) {
        if from <= other_to && other_from <= to {
            return Some(*from.max(other_from));
        }
        if from <= other_from {
            completed.next();
        } else {
            failed.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_increase() {
        assert_eq!(check_indexes("", 5), Ok(()));
        assert_eq!(check_indexes("0,2-4", 5), Ok(()));
        let fault = |text: &str| check_indexes(text, 5).unwrap_err();
        assert_eq!(fault("2,1"), "non-increasing order, previous: 2, current: 1");
        assert_eq!(fault("1-1"), "non-increasing order, previous: 1, current: 1");
        assert_eq!(fault("1,5"), "too large index: \"5\"");
        assert_eq!(fault("x"), "cannot convert string to integer for index: \"x\"");
        assert!(fault("1-2-3").starts_with("the fragment \"1-2-3\" violates"));
    }

    #[test]
    fn overlaps_are_found() {
        assert_eq!(find_overlap("0-2,4", "3", 9), None);
        assert_eq!(find_overlap("0-2,4-6", "3,5-7", 9), Some(5));
        assert_eq!(find_overlap("x,1", "1", 9), Some(1));
        assert_eq!(find_overlap("", "1", 9), None);
    }
}
