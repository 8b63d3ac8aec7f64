//! The timeout of a client: `?timeout=10s`.

use std::time::Duration;

use pratique_gotext::time as gotext;

/// The `timeout` of a query is not a positive duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid timeout {0:?}: a duration such as 10s is expected")]
pub(crate) struct InvalidTimeout(String);

/// The `timeout` of a query, if it has one.
pub(crate) fn timeout(query: Option<&str>) -> Result<Option<Duration>, InvalidTimeout> {
    let mut pairs = query
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    let Some((_, text)) = pairs.find(|(name, _)| *name == "timeout") else {
        return Ok(None);
    };
    let nanos = gotext::Duration::parse(text).map_or(0, gotext::Duration::nanos);
    match u64::try_from(nanos) {
        Ok(nanos) if nanos > 0 => Ok(Some(Duration::from_nanos(nanos))),
        _ => Err(InvalidTimeout(text.to_owned())),
    }
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
