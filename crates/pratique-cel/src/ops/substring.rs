//! Searching for a string in another.

/// `text.startsWith(prefix)`
#[inline]
pub(crate) fn starts_with(text: &str, prefix: &str) -> bool {
    text.starts_with(prefix)
}

/// `text.endsWith(suffix)`
#[inline]
pub(crate) fn ends_with(text: &str, suffix: &str) -> bool {
    text.ends_with(suffix)
}

/// `text.contains(part)`
#[inline]
pub(crate) fn contains(text: &str, part: &str) -> bool {
    match part.as_bytes() {
        [byte] => memchr::memchr(*byte, text.as_bytes()).is_some(),
        _ => text.contains(part),
    }
}
