//! Times as typed objects hold them.

use k8s_openapi::jiff;
use pratique_gotext::time::{ParseError, TimeLayout, Timestamp, parse};

/// The time without a value: the first second of the year 1.
const ZERO: i64 = -62_135_596_800;

/// A time in UTC, in whole seconds; none for the zero time. What is later than a time in `k8s-openapi`'s objects can be
/// is the latest of these.
pub(crate) fn canonical(text: &str) -> Result<Option<String>, ParseError<'_>> {
    let time = parse(text, TimeLayout::Rfc3339)?;
    if time.seconds == ZERO && time.nanos == 0 {
        return Ok(None);
    }
    let seconds = time.seconds.min(jiff::Timestamp::MAX.as_second());
    Ok(Some(Timestamp::of_message(seconds, 0).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_seconds_or_say_why_not() {
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", Ok(Some("2026-01-02T03:04:05Z"))),
            ("2026-01-02T03:04:05.678+01:00", Ok(Some("2026-01-02T02:04:05Z"))),
            ("2026-01-02T3:04:05,5+24:00", Ok(Some("2026-01-01T03:04:05Z"))),
            ("9999-12-31T23:59:59-24:00", Ok(Some("9999-12-30T22:00:00Z"))),
            ("0001-01-01T00:00:00Z", Ok(None)),
            (
                "2026-02-30T03:04:05Z",
                Err(r#"parsing time "2026-02-30T03:04:05Z": day out of range"#),
            ),
        ] {
            let found = canonical(text).map_err(|error| error.to_string());
            assert_eq!(
                found,
                expected
                    .map(|text| text.map(str::to_owned))
                    .map_err(str::to_owned)
            );
        }
    }
}
