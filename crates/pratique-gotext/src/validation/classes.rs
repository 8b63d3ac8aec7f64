//! The classes of bytes in names.

/// Lowercase letters and digits.
pub(super) const LOWER: u8 = 1;

/// Uppercase letters.
pub(super) const UPPER: u8 = 2;

/// `-`, `_` and `.`, which stand within names.
pub(super) const JOINING: u8 = 4;

/// The class of each byte; 0 of those that are in no name.
// Rows `validate-*` of `benches/`: a table takes half of the instructions of comparisons with ranges.
#[allow(clippy::indexing_slicing, reason = "the compiler evaluates it")]
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut rest: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    while let [byte, others @ ..] = rest {
        classes[*byte as usize] = LOWER;
        rest = others;
    }
    rest = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    while let [byte, others @ ..] = rest {
        classes[*byte as usize] = UPPER;
        rest = others;
    }
    rest = b"-_.";
    while let [byte, others @ ..] = rest {
        classes[*byte as usize] = JOINING;
        rest = others;
    }
    classes
};

/// Whether a byte is of one of some classes.
#[inline]
pub(super) fn is_of(byte: u8, classes: u8) -> bool {
    CLASSES
        .get(usize::from(byte))
        .is_some_and(|class| class & classes != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_of_their_classes() {
        for byte in 0..=u8::MAX {
            assert_eq!(
                is_of(byte, LOWER),
                byte.is_ascii_lowercase() || byte.is_ascii_digit(),
                "{byte}"
            );
            assert_eq!(is_of(byte, UPPER), byte.is_ascii_uppercase(), "{byte}");
            assert_eq!(is_of(byte, JOINING), b"-_.".contains(&byte), "{byte}");
        }
    }
}
