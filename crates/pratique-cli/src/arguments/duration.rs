//! Durations on the command line.

use std::time::Duration;

/// Parses a duration in Go's notation, as kube-apiserver's flags take it: `5s`, `1m30s`. A number without a unit counts
/// seconds, which is what these flags took before they had kube-apiserver's names.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let parsed = pratique_gotext::time::Duration::parse(text).ok();
    parsed
        .and_then(|duration| u64::try_from(duration.nanos()).ok())
        .map(Duration::from_nanos)
        .ok_or_else(|| "expected a duration, such as 5s or 1m30s".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_seconds() {
        let check = |text: &str, milliseconds| {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        };
        check("5s", 5_000);
        check("1m30s", 90_000);
        check("1.5s", 1_500);
        check("0", 0);
        check("20", 20_000);
        for wrong in ["", "-5s", "-1", "5 s", "1.5", "s", "1d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
