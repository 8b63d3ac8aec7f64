//! `$BACKEND` and other placeholders: filled in, and masked again.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Replaces placeholders, longer names first.
pub(crate) fn fill(text: &str, values: &[(String, String)]) -> String {
    let mut sorted: Vec<_> = values.iter().collect();
    sorted.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let replaced = |text: String, (name, value): &(String, String)| text.replace(name.as_str(), value);
    sorted.into_iter().fold(text.to_owned(), replaced)
}

/// Puts placeholders for addresses, uids and times.
pub(crate) fn mask(text: &str, addresses: &BTreeMap<&str, SocketAddr>, uids: &[String]) -> String {
    let mut masked = text.to_owned();
    for (name, address) in addresses {
        masked = masked.replace(&format!("https://{address}"), &format!("${name}"));
        masked = masked.replace(&address.to_string(), &format!("${name}_ADDR"));
    }
    for uid in uids {
        masked = masked.replace(uid, "$UID");
    }
    mask_clock(&masked)
}

/// `current time … is after …`.
fn mask_clock(text: &str) -> String {
    const NOW: &str = "current time ";
    const AFTER: &str = " is after ";
    let Some((preceding_text, rest)) = text.split_once(NOW) else {
        return text.to_owned();
    };
    let Some((now, rest)) = rest.split_once(AFTER).filter(|(now, _)| !now.contains(' ')) else {
        return format!("{preceding_text}{NOW}{}", mask_clock(rest));
    };
    let is_time = |letter: char| letter.is_ascii_digit() || "TZ:+-".contains(letter);
    let after = rest.trim_start_matches(is_time);
    if now.is_empty() || after.len() == rest.len() {
        return format!("{preceding_text}{NOW}{now}{AFTER}{}", mask_clock(rest));
    }
    format!("{preceding_text}{NOW}$NOW{AFTER}$THEN{}", mask_clock(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_names_first() {
        let values = [("$A", "1"), ("$A_B", "2")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(fill("$A $A_B", &values), "1 2");
    }

    #[test]
    fn masks() {
        let addresses = BTreeMap::from([("BACKEND", SocketAddr::from(([127, 0, 0, 1], 4567)))]);
        let check = |text: &str, expected: &str| {
            assert_eq!(mask(text, &addresses, &["u-1".to_owned()]), expected);
        };
        check("https://127.0.0.1:4567/x", "$BACKEND/x");
        check("dial tcp 127.0.0.1:4567: u-1", "dial tcp $BACKEND_ADDR: $UID");
        check(
            "current time 2026-01-02T03:04:05Z is after 2026-01-01T00:00:00Z\"",
            "current time $NOW is after $THEN\"",
        );
        check("current time flies", "current time flies");
    }
}
