//! `key=value&key=value`.

use super::escape::{UrlPart, unescape};
use crate::utf8::lossy;

/// Queries with more pairs than this read as empty.
const MAX_PAIRS: usize = 10_000;

/// The keys in order of appearance, each with its values. Pairs with a semicolon or a bad escape are left out.
pub(super) fn parse(query: &str) -> Vec<(String, Vec<String>)> {
    let mut keys: Vec<(String, Vec<String>)> = Vec::new();
    let mut positions = std::collections::HashMap::new();
    if query.split('&').count() > MAX_PAIRS {
        return keys;
    }
    for (key, value) in query.split('&').filter_map(parse_pair) {
        let position = *positions.entry(key.clone()).or_insert(keys.len());
        match keys.get_mut(position) {
            Some((_, values)) => values.push(value),
            None => keys.push((key, vec![value])),
        }
    }
    keys
}

fn parse_pair(pair: &str) -> Option<(String, String)> {
    if pair.is_empty() || pair.contains(';') {
        return None;
    }
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let decode = |part: &str| {
        unescape(part.as_bytes(), UrlPart::Query)
            .ok()
            .map(|bytes| lossy(&bytes).into_owned())
    };
    Some((decode(key)?, decode(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: &[(&str, &[&str])]) {
        let got = parse(query);
        let got: Vec<(&str, Vec<&str>)> = got
            .iter()
            .map(|(key, values)| (key.as_str(), values.iter().map(String::as_str).collect()))
            .collect();
        let expected: Vec<(&str, Vec<&str>)> = expected
            .iter()
            .map(|(key, values)| (*key, values.to_vec()))
            .collect();
        assert_eq!(got, expected, "{query}");
    }

    #[test]
    fn pairs() {
        check("", &[]);
        check("b=1&a=2&b=3", &[("b", &["1", "3"]), ("a", &["2"])]);
        check("a&=x&&c=", &[("a", &[""]), ("", &["x"]), ("c", &[""])]);
        check("a+b=%20%3D&c=d=e", &[("a b", &[" ="]), ("c", &["d=e"])]);
        check("a;b=1&c=%zz&d=1", &[("d", &["1"])]);
    }

    #[test]
    fn too_many_pairs() {
        assert_eq!(parse(&"a&".repeat(MAX_PAIRS)).len(), 0);
        assert_eq!(parse(&"a&".repeat(MAX_PAIRS - 1)).len(), 1);
    }
}
