//! Keeps what is printed, for outputs that go to files.
//!
//! All outputs print in one way, to standard output. While one is printed for a file, what it prints is kept instead.

use std::cell::RefCell;

thread_local! {
    /// What is kept of the thread that prints; `None` while it prints to standard output.
    static KEPT: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Whether what this thread prints is kept.
pub(crate) fn is_capturing() -> bool {
    KEPT.with_borrow(Option::is_some)
}

/// Keeps bytes, if what this thread prints is kept; gives whether it is.
pub(super) fn keep(bytes: &[u8]) -> bool {
    KEPT.with_borrow_mut(|kept| match kept {
        Some(kept) => {
            kept.extend_from_slice(bytes);
            true
        }
        None => false,
    })
}

/// Runs something, and gives what it prints besides its result.
pub(crate) fn captured<T>(print: impl FnOnce() -> T) -> (T, Vec<u8>) {
    let around = KEPT.replace(Some(Vec::new()));
    let result = print();
    let kept = KEPT.replace(around).unwrap_or_default();
    (result, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_printed_meanwhile_is_kept() {
        assert!(!keep(b"a"));
        let ((), kept) = captured(|| {
            assert!(is_capturing() && keep(b"b"));
            let ((), inner) = captured(|| assert!(keep(b"c")));
            assert_eq!(inner, b"c");
            keep(b"d");
        });
        assert_eq!(kept, b"bd");
        assert!(!is_capturing());
    }
}
