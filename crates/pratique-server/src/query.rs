//! How long the client waits: `?timeout=10s`.

use std::time::Duration;

/// The `timeout` of a query, if it has one. An error says what is wrong with it.
pub(crate) fn timeout(query: Option<&str>) -> Result<Option<Duration>, String> {
    let mut pairs = query
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    let Some((_, text)) = pairs.find(|(name, _)| *name == "timeout") else {
        return Ok(None);
    };
    match duration(text) {
        Some(time) if !time.is_zero() => Ok(Some(time)),
        _ => Err(format!(
            "invalid timeout {text:?}: a duration such as 10s is expected"
        )),
    }
}

/// A duration as Go writes it: numbers with units.
fn duration(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text, Duration::ZERO);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(end)?;
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(unit_end)?;
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        let part = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
        total = total.checked_add(part)?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        let check = |query: &str, expected: Option<u64>| {
            let expected = expected.map(|millis| Some(Duration::from_millis(millis)));
            assert_eq!(timeout(Some(query)).ok(), expected, "{query}");
        };
        check("timeout=10s", Some(10_000));
        check("a=b&timeout=1m1.5s&c", Some(61_500));
        check("timeout=250ms", Some(250));
        for wrong in [
            "",
            "10",
            "s",
            "1d",
            "-1s",
            "0s",
            "1s2",
            "1.2.3s",
            "1e3s",
            "99999999999999999999h",
        ] {
            check(&format!("timeout={wrong}"), None);
        }
        assert_eq!(timeout(Some("a=1")), Ok(None));
        assert_eq!(timeout(None), Ok(None));
    }
}
