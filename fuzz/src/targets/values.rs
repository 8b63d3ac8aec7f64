//! Texts that expressions and manifests make values of.

use pratique_cel::time::{Duration, Timestamp, Zone};
use pratique_gotext::net::{Cidr, Ip};
use pratique_gotext::quantity::Quantity;
use pratique_gotext::regexp::Regex;
use pratique_gotext::semver::Version;
use pratique_gotext::url::Url;

/// A pattern and, behind the first line break, a text: the ways to look for matches agree.
pub fn regex(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let (pattern, text) = input.split_once('\n').unwrap_or((input, ""));
    let compiled = Regex::new(pattern);
    assert_eq!(Regex::is_pattern(pattern), compiled.is_ok(), "{pattern:?}");
    let Ok(regex) = compiled else {
        return;
    };
    let first = regex.find(text);
    let all = regex.find_all(text, -1);
    assert_eq!(regex.is_match(text), first.is_some());
    assert_eq!(all.first().copied(), first);
    assert_eq!(regex.find_all(text, 1), all.get(..1).unwrap_or_default());
    assert!(all.len() <= text.chars().count() + 1);
    let bounds = text.as_bytes().as_ptr_range();
    let mut end = bounds.start;
    for occurrence in all {
        let range = occurrence.as_bytes().as_ptr_range();
        assert!(
            end <= range.start && range.end <= bounds.end,
            "matches of {pattern:?} overlap in {text:?}"
        );
        end = range.end;
    }
    if pattern.chars().all(|character| character.is_ascii_alphanumeric()) {
        assert_eq!(first.is_some(), text.contains(pattern));
    }
}

/// Two quantities, on a line each: each is shown as a text of the same quantity, and they are ordered and added as numbers.
pub fn quantity(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let (left, right) = input.split_once('\n').unwrap_or((input, "1"));
    let (Ok(left), Ok(right)) = (Quantity::parse(left), Quantity::parse(right)) else {
        return;
    };
    for quantity in [&left, &right] {
        let quantity_text = quantity.to_string();
        let again = Quantity::parse(&quantity_text);
        assert_eq!(
            again.as_ref().map(Quantity::to_string).ok().as_ref(),
            Some(&quantity_text)
        );
        // There is no suffix for more, and the reference writes it without one.
        if quantity.as_approximate_float().abs() < 1e20 {
            assert_eq!(again.as_ref().ok(), Some(quantity), "{quantity_text:?}");
        }
        assert_eq!(quantity.is_zero(), quantity.signum() == 0);
        if let Some(number) = quantity.as_integer() {
            assert_eq!(&Quantity::from_integer(number), quantity);
        }
        // Whatever it is, it is shown.
        let _ = (quantity.go_parts(), quantity.as_approximate_float());
    }
    assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
    if let (Ok(sum), Ok(difference)) = (left.add(&right), left.sub(&right)) {
        assert_eq!(right.add(&left).ok().as_ref(), Some(&sum));
        assert_eq!(difference.signum(), left.cmp(&right) as i64);
        if let Ok(back) = difference.add(&right) {
            assert_eq!(back, left);
        }
    }
}

/// A duration, a timestamp or a time zone: what is shown reads as the same time, and what was added can be taken away.
pub fn time(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let (first, second) = input.split_once('\n').unwrap_or((input, "1h"));
    let duration = Duration::parse(second).ok();
    if let Some(duration) = duration {
        assert_eq!(
            Duration::parse(&duration.to_proto_json()),
            Ok(duration),
            "{second:?}"
        );
        // As text it is a double of seconds, of which reading cuts the end.
        let again = Duration::parse(&duration.to_string()).ok();
        let near = 2 + (duration.nanos().unsigned_abs() >> 50);
        let is_near = |again: Duration| again.nanos().abs_diff(duration.nanos()) <= near;
        let is_longest = duration.nanos().unsigned_abs() > i64::MAX.unsigned_abs() - near;
        assert!(again.map_or(is_longest, is_near), "{second:?}");
        if let Ok(negated) = duration.checked_neg() {
            assert_eq!(negated.checked_neg(), Ok(duration));
        }
    }
    let zone = Zone::parse(second);
    let Ok(timestamp) = Timestamp::parse(first) else {
        return;
    };
    for time_text in [timestamp.to_string(), timestamp.to_proto_json()] {
        let again = Timestamp::parse(&time_text);
        assert_eq!(again.ok(), Some(timestamp), "{first:?} is shown as {time_text:?}");
    }
    assert!(timestamp.is_in_range() && timestamp.nanos() < 1_000_000_000);
    if let Some(duration) = duration
        && let Ok(later) = timestamp.checked_add(duration)
    {
        assert_eq!(later.checked_sub(duration).ok(), Some(timestamp));
        // The seconds are multiplied first, and that may be too much although the difference is not.
        let since = later.checked_since(timestamp);
        assert!(
            since == Ok(duration)
                || since.is_err() && duration.nanos().unsigned_abs() > 9_223_372_034_000_000_000
        );
        assert_eq!(later.cmp(&timestamp), duration.nanos().cmp(&0));
    }
    if let Ok(zone) = zone {
        use pratique_cel::time::TimestampField::{Hours, Minutes, Seconds};
        let field = |field| zone.field(timestamp, field);
        assert!((0..24).contains(&field(Hours)) && (0..60).contains(&field(Minutes)));
        assert!((0..60).contains(&field(Seconds)));
    }
}

/// A URL, an address, a range of addresses, a version: what is shown reads as what it was.
pub fn url(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(url) = Url::parse_request_uri(text) {
        let _ = (url.hostname(), url.port(), url.host(), url.query());
    }
    if let Ok(url) = Url::parse(text) {
        let url_text = url.to_string();
        let again = Url::parse(&url_text).map(|again| (again.to_string(), again.hostname(), again.query()));
        assert!(url.hostname().len() <= url.host().len().max(1));
        // A path may look like a host or a scheme once it is written without these, and zones may not have all escapes that
        // they are written with.
        if !url.scheme().is_empty() && !url.host().is_empty() && url.hostname().is_ascii() {
            assert_eq!(
                again.ok(),
                Some((url_text, url.hostname(), url.query())),
                "{text:?}"
            );
        }
    }
    if let Ok(address) = Ip::parse(text) {
        assert_eq!(Ip::parse(&address.to_string()).ok(), Some(address));
        assert!(matches!(address.family(), 4 | 6));
    }
    if let Ok(range) = Cidr::parse(text) {
        assert_eq!(Cidr::parse(&range.to_string()).ok(), Some(range));
        assert!(range.contains_cidr(range.masked()) && range.contains_ip(range.ip()));
    }
    if let Ok(version) = Version::parse(text) {
        assert_eq!(Version::parse(&version.to_string()).ok().as_ref(), Some(&version));
    }
    let _ = Version::parse_normalized(text);
}
