//! Times in RFC 3339, with the server's words for those that are not.

use pratique_cel::quote::quoted;

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// A time in UTC, in whole seconds.
pub(crate) fn canonical(text: &str) -> Result<String, String> {
    check(text)?;
    let time: k8s_openapi::jiff::Timestamp = text.parse().map_err(|_| out_of_range(text, "day"))?;
    k8s_openapi::jiff::fmt::strtime::format("%Y-%m-%dT%H:%M:%SZ", time)
        .map_err(|_| out_of_range(text, "year"))
}

/// Goes through a time part by part; the first that does not fit is named.
fn check(text: &str) -> Result<(), String> {
    let mut rest = text;
    let digits = [
        ("2006", 4, 9999, ""),
        ("-", 0, 0, ""),
        ("01", 2, 12, "month"),
        ("-", 0, 0, ""),
        ("02", 2, 31, "day"),
    ];
    let clock = [
        ("T", 0, 0, ""),
        ("15", 2, 23, "hour"),
        (":", 0, 0, ""),
        ("04", 2, 59, "minute"),
        (":", 0, 0, ""),
        ("05", 2, 59, "second"),
    ];
    for (element, width, max, name) in digits.into_iter().chain(clock) {
        rest = if width == 0 {
            rest.strip_prefix(element)
                .ok_or_else(|| unexpected(text, rest, element))?
        } else {
            let value = rest
                .get(..width)
                .filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            let value: u32 = value
                .and_then(|part| part.parse().ok())
                .ok_or_else(|| unexpected(text, rest, element))?;
            if value > max || (value == 0 && matches!(name, "month" | "day")) {
                return Err(out_of_range(text, name));
            }
            rest.get(width..).unwrap_or_default()
        };
    }
    check_zone(text, skip_fraction(rest))
}

fn skip_fraction(rest: &str) -> &str {
    match rest.strip_prefix(['.', ',']) {
        Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => {
            after.trim_start_matches(|c: char| c.is_ascii_digit())
        }
        _ => rest,
    }
}

fn check_zone(text: &str, zone: &str) -> Result<(), String> {
    const ELEMENT: &str = "Z07:00";
    if let Some(extra) = zone.strip_prefix('Z') {
        return if extra.is_empty() {
            Ok(())
        } else {
            Err(extra_text(text, extra))
        };
    }
    let fits = zone.len() >= 6
        && zone.starts_with(['+', '-'])
        && zone.bytes().take(6).enumerate().skip(1).all(|(at, byte)| {
            if at == 3 {
                byte == b':'
            } else {
                byte.is_ascii_digit()
            }
        });
    match zone.get(6..) {
        Some("") if fits => Ok(()),
        Some(extra) if fits => Err(extra_text(text, extra)),
        _ => Err(unexpected(text, zone, ELEMENT)),
    }
}

fn unexpected(text: &str, rest: &str, element: &str) -> String {
    format!(
        "parsing time {} as {LAYOUT:?}: cannot parse {} as {element:?}",
        quoted(text),
        quoted(rest)
    )
}

fn extra_text(text: &str, extra: &str) -> String {
    format!("parsing time {}: extra text: {}", quoted(text), quoted(extra))
}

fn out_of_range(text: &str, name: &str) -> String {
    format!("parsing time {}: {name} out of range", quoted(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_seconds_or_say_why_not() {
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", Ok("2026-01-02T03:04:05Z")),
            ("2026-01-02T03:04:05.678+01:00", Ok("2026-01-02T02:04:05Z")),
            (
                "yesterday",
                Err(
                    r#"parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006""#,
                ),
            ),
            (
                "2026-01-02",
                Err(r#"parsing time "2026-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#),
            ),
            (
                "2026-13-02T03:04:05Z",
                Err(r#"parsing time "2026-13-02T03:04:05Z": month out of range"#),
            ),
            (
                "2026-02-30T03:04:05Z",
                Err(r#"parsing time "2026-02-30T03:04:05Z": day out of range"#),
            ),
            (
                "2026-01-02T03:04:05Zx",
                Err(r#"parsing time "2026-01-02T03:04:05Zx": extra text: "x""#),
            ),
        ] {
            assert_eq!(
                canonical(text),
                expected.map(str::to_owned).map_err(str::to_owned)
            );
        }
    }
}
