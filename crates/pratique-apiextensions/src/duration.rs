//! Durations as the `duration` format reads them: Go's, and else those of Scala (`3 days`).

use pratique_gotext::time::Duration;

/// The units by which a word begins, and those that it is.
const UNITS: [(i64, &[&str], &str); 8] = [
    (1, &["ns"], "nano"),
    (1_000, &["us", "µs"], "micro"),
    (1_000_000, &["ms"], "milli"),
    (1_000_000_000, &["s"], "sec"),
    (60_000_000_000, &["m"], "min"),
    (3_600_000_000_000, &["h", "hr"], "hour"),
    (86_400_000_000_000, &["d"], "day"),
    (604_800_000_000_000, &["w", "wk"], "week"),
];

/// Reads a duration.
// Upstream: kube-openapi/pkg/validation/strfmt/duration.go, ParseDuration
pub(crate) fn parse(text: &str) -> Option<Duration> {
    if let Ok(duration) = Duration::parse(text) {
        return Some(duration);
    }
    let mut nanos: Option<i64> = None;
    let mut rest = text;
    while let Some((number, unit, behind)) = next_pair(rest) {
        rest = behind;
        let factor: i64 = number.parse().ok()?;
        let unit = unit.to_lowercase();
        for (multiplier, words, prefix) in UNITS {
            let is_word = words.iter().any(|word| word.to_lowercase() == unit);
            // A word may be two units, which then add up, as upstream's do.
            if is_word || unit.starts_with(prefix) {
                nanos = Some(nanos.unwrap_or(0).wrapping_add(factor.wrapping_mul(multiplier)));
            }
        }
    }
    nanos.map(Duration::from_nanos)
}

/// The next digits that letters follow, perhaps after white space.
fn next_pair(text: &str) -> Option<(&str, &str, &str)> {
    let mut rest = text;
    loop {
        rest = rest.get(rest.find(|c: char| c.is_ascii_digit())?..)?;
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (digits, behind) = rest.split_at_checked(end)?;
        let word = behind.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
        let end = word.find(|c: char| !is_letter(c)).unwrap_or(word.len());
        let (letters, after) = word.split_at_checked(end)?;
        if !letters.is_empty() {
            return Some((digits, letters, after));
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations_are_read() {
        let seconds = |text| parse(text).map(|duration| duration.nanos() / 1_000_000_000);
        assert_eq!(seconds("1h30m"), Some(5400));
        assert_eq!(seconds("3 days"), Some(3 * 86_400));
        assert_eq!(seconds("2 weeks 1 hr"), Some(14 * 86_400 + 3600));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("12"), None);
        assert_eq!(seconds("5 parsecs"), None);
    }
}
