//! Text quoted as Kubernetes' messages quote what a user wrote: Go's `%q`.

pub use crate::text::{quote as quoted, quote_bytes as quoted_bytes};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], expected: &str) {
        assert_eq!(quoted_bytes(text), expected);
    }

    #[test]
    fn escapes() {
        check(b"", r#""""#);
        check(b"plain ~", r#""plain ~""#);
        check(br#"a"b\c"#, r#""a\"b\\c""#);
        check(b"\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#);
        check(b"\0\x1f\x7f", r#""\x00\x1f\x7f""#);
    }

    #[test]
    fn unicode() {
        check("é世🙂".as_bytes(), "\"é世🙂\"");
        check(
            "\u{a0}\u{ad}\u{200b}\u{feff}".as_bytes(),
            r#""\u00a0\u00ad\u200b\ufeff""#,
        );
        check("\u{e0001}\u{10ffff}".as_bytes(), r#""\U000e0001\U0010ffff""#);
    }

    #[test]
    fn stray_bytes() {
        check(b"a\xff\xe2\x82b", r#""a\xff\xe2\x82b""#);
    }
}
