//! Points and spans of time, as far as what Go says of texts that are none.

use pratique_cel::time::{Duration, Timestamp};
use pratique_gotext::time::quote as quoted;

/// A form of times.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// RFC 3339.
    Seconds,
    /// RFC 3339 with six digits for microseconds.
    Microseconds,
}

/// The pieces of Go's layout that both forms begin with.
const LAYOUT: [&str; 11] = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];

/// Why a text is no point in time.
pub(super) fn fault(text: &str, form: Form) -> Option<String> {
    let layout = match form {
        Form::Seconds => "2006-01-02T15:04:05Z07:00",
        Form::Microseconds => "2006-01-02T15:04:05.000000Z07:00",
    };
    let unfit = |rest: &str, piece: &str| {
        let (text, rest) = (quoted(text), quoted(rest));
        Some(format!(
            "parsing time {text} as {layout:?}: cannot parse {rest} as {piece:?}"
        ))
    };
    let mut rest = text;
    for piece in LAYOUT {
        let fits = match piece.bytes().all(|byte| byte.is_ascii_digit()) {
            true => digits(rest, piece.len()),
            false => rest.strip_prefix(piece),
        };
        match fits {
            Some(after) => rest = after,
            None => return unfit(rest, piece),
        }
    }
    let zone = match form {
        Form::Seconds => match rest.strip_prefix(['.', ',']) {
            Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => rest,
        },
        Form::Microseconds => match rest.strip_prefix(['.', ',']).and_then(|rest| digits(rest, 6)) {
            Some(zone) => zone,
            None => return unfit(rest, ".000000"),
        },
    };
    if !(zone.starts_with('Z') || zone.starts_with(['+', '-']) && zone.len() >= 6) {
        return unfit(zone, "Z07:00");
    }
    if Timestamp::parse(text).is_ok() {
        return None;
    }
    let extra = zone.get(if zone.starts_with('Z') { 1 } else { 6 }..);
    let text_shown = quoted(text);
    Some(match (out_of_range(text), extra) {
        (Some(what), _) => format!("parsing time {text_shown}: {what} out of range"),
        (None, Some(extra)) if !extra.is_empty() => {
            format!("parsing time {text_shown}: extra text: {}", quoted(extra))
        }
        (None, _) => format!("parsing time {text_shown}: day out of range"),
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
    let parts = [
        ("month", beyond(5, 1, 12)),
        ("hour", beyond(11, 0, 23)),
        ("minute", beyond(14, 0, 59)),
        ("second", beyond(17, 0, 59)),
    ];
    parts.into_iter().find_map(|(what, is)| is.then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(form: Form, text: &str, expected: &str) {
        assert_eq!(fault(text, form).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn faults_name_the_piece() {
        let seconds = |text: &str, expected: &str| check(Form::Seconds, text, expected);
        seconds("2024-01-02T03:04:05Z", "");
        seconds("2024-01-02T03:04:05.123+02:00", "");
        seconds(
            "x",
            r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
        );
        seconds(
            "é",
            r#"parsing time "\xc3\xa9" as "2006-01-02T15:04:05Z07:00": cannot parse "\xc3\xa9" as "2006""#,
        );
        seconds(
            "2024-01-02",
            r#"parsing time "2024-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#,
        );
        seconds(
            "2024-13-02T03:04:05Z",
            r#"parsing time "2024-13-02T03:04:05Z": month out of range"#,
        );
        seconds(
            "2024-02-30T03:04:05Z",
            r#"parsing time "2024-02-30T03:04:05Z": day out of range"#,
        );
        seconds(
            "2024-01-02T03:04:05Zulu",
            r#"parsing time "2024-01-02T03:04:05Zulu": extra text: "ulu""#,
        );
    }

    #[test]
    fn microseconds_have_six_digits() {
        let micro = |text: &str, expected: &str| check(Form::Microseconds, text, expected);
        micro("2024-01-02T03:04:05.123456Z", "");
        micro(
            "2024-01-02T03:04:05Z",
            r#"parsing time "2024-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#,
        );
        micro(
            "2024-01-02T03:04:05.1234567Z",
            r#"parsing time "2024-01-02T03:04:05.1234567Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "7Z" as "Z07:00""#,
        );
    }
}
