//! Points and spans of time, as far as what Go says of texts that are none.

use pratique_cel::quote::quoted;
use pratique_cel::time::{Duration, Timestamp};

/// RFC 3339 by the pieces of Go's layout.
const LAYOUT: [&str; 11] = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];

/// Why a text is no point in time.
pub(super) fn fault(text: &str) -> Option<String> {
    if Timestamp::parse(text).is_ok() {
        return None;
    }
    let head = |layout: &str| format!("parsing time {} as {layout}: ", quoted(text));
    let whole = head("\"2006-01-02T15:04:05Z07:00\"");
    let mut rest = text;
    for piece in LAYOUT {
        let fits = match piece.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits(rest, piece.len()),
            false => rest.strip_prefix(piece),
        };
        match fits {
            Some(after) => rest = after,
            None => return Some(format!("{whole}cannot parse {} as {piece:?}", quoted(rest))),
        }
    }
    let fraction = rest
        .strip_prefix(['.', ','])
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let zone = fraction.unwrap_or(rest);
    let is_zone = zone.starts_with('Z') || zone.starts_with(['+', '-']) && zone.len() >= 6;
    Some(match (is_zone, out_of_range(text)) {
        (false, _) => format!("{whole}cannot parse {} as \"Z07:00\"", quoted(zone)),
        (true, Some(what)) => format!("parsing time {}: {what} out of range", quoted(text)),
        (true, None) => {
            let extra = zone
                .get(if zone.starts_with('Z') { 1 } else { 6 }..)
                .unwrap_or_default();
            format!("parsing time {}: extra text: {}", quoted(text), quoted(extra))
        }
    })
}

/// Why a text is no span of time.
pub(super) fn duration_fault(text: &str) -> Option<String> {
    match Duration::parse(text) {
        Some(_) => None,
        None => Some(format!("time: invalid duration {}", quoted(text))),
    }
}

fn digits(text: &str, count: usize) -> Option<&str> {
    let (digits, rest) = text.split_at_checked(count)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)
}

/// The first number of a text that has the form, but is too large or too small.
fn out_of_range(text: &str) -> Option<&'static str> {
    let number = |from: usize| text.get(from..from + 2)?.parse::<u32>().ok();
    let beyond = |from, low, high| number(from).is_some_and(|number| number < low || number > high);
    [
        ("month", beyond(5, 1, 12)),
        ("hour", beyond(11, 0, 23)),
        ("minute", beyond(14, 0, 59)),
        ("second", beyond(17, 0, 59)),
        ("day", true),
    ]
    .into_iter()
    .find_map(|(what, is)| is.then_some(what))
    .filter(|what| *what != "day" || text.ends_with('Z') || text.len() >= 25)
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn faults_name_the_piece() {
        assert_eq!(fault("2024-01-02T03:04:05Z"), None);
        for (text, expected) in [
            (
                "x",
                r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
            ),
            (
                "2024-01-02",
                r#"parsing time "2024-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#,
            ),
            (
                "2024-13-02T03:04:05Z",
                r#"parsing time "2024-13-02T03:04:05Z": month out of range"#,
            ),
        ] {
            assert_eq!(fault(text).as_deref(), Some(expected));
        }
    }
}
