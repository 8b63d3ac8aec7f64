//! Messages that several checks share.

/// The message for a value that does not match a pattern, with examples that do.
pub(super) fn shape(rule: &str, pattern: &str, examples: &[&str]) -> String {
    let mut out = format!("{rule} (e.g. ");
    for (index, example) in examples.iter().enumerate() {
        if index > 0 {
            out.push_str(" or ");
        }
        out.push_str(&format!("'{example}', "));
    }
    out.push_str(&format!("regex used for validation is '{pattern}')"));
    out
}

/// A name that is too long. Names are ASCII when valid, so upstream says "characters" and counts bytes.
pub(super) fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

/// As [`too_long`], with the newer message of label keys and values.
pub(super) fn too_many_bytes(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}
