//! Base64 with padding, as the `byte` format wants it.

/// Whether `value` is non-empty, padded base64 in the standard alphabet.
// Upstream: strfmt/default.go, govalidator.IsBase64
pub fn is_base64(value: &str) -> bool {
    let value = value.as_bytes();
    if value.is_empty() || !value.len().is_multiple_of(4) {
        return false;
    }
    let digits = value
        .strip_suffix(b"==")
        .or_else(|| value.strip_suffix(b"="))
        .unwrap_or(value);
    digits
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64() {
        for valid in ["YQ==", "YWI=", "YWJj", "+/+/", "AAAAYQ=="] {
            assert!(is_base64(valid), "{valid}");
        }
        for invalid in [
            "", "a", "YQ=", "YQ", "====", "A===", "YQ==YQ==", "Y-Q=", "YWJj\n", "é==",
        ] {
            assert!(!is_base64(invalid), "{invalid}");
        }
    }
}
