//! Documents from the wire, such as the answers of webhooks, read as the server reads them.

use crate::budget::Budget;
use crate::{json, yaml};

/// Whether the server takes bytes for JSON, and for YAML otherwise.
pub fn is_json(bytes: &[u8]) -> bool {
    json::is_json(bytes)
}

/// How much memory the values of so many bytes may take. An answer is an object of a few fields, one of which may be a long
/// patch.
pub fn wire_bytes(length: usize) -> usize {
    length.saturating_mul(8).saturating_add(16 << 20)
}

fn budget(bytes: &[u8]) -> Budget {
    Budget::new(u64::try_from(wire_bytes(bytes.len())).unwrap_or(u64::MAX))
}

/// JSON as plain JSON: UTF-8, compact, each key once.
///
/// # Errors
/// The bytes are not JSON, or the values would take far more memory than the bytes do.
pub fn json_as_json(bytes: &[u8]) -> Result<String, json::SyntaxError> {
    let document = json::parse(bytes, &budget(bytes))?;
    Ok(json::write(&document.tree, document.root))
}

/// YAML as plain JSON.
///
/// # Errors
/// The bytes are not YAML, or the values would take far more memory than the bytes do, as with repeated aliases.
pub fn yaml_as_json(bytes: &[u8]) -> Result<String, yaml::SyntaxError> {
    let document = yaml::parse(&yaml::decode(bytes.to_vec()), &budget(bytes))?;
    Ok(json::write(&document.tree, document.root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<E: std::fmt::Display>(read: fn(&[u8]) -> Result<String, E>, bytes: &[u8], expected: &str) {
        assert_eq!(read(bytes).unwrap_or_else(|error| error.to_string()), expected);
    }

    #[test]
    fn json_is_made_plain() {
        check(
            json_as_json,
            br#" {"b":1,"a":[ "\ud800" ],"b":2} "#,
            "{\"a\":[\"\u{fffd}\"],\"b\":2}",
        );
        check(json_as_json, br#"{"a":"#, "unexpected end of JSON input");
    }

    #[test]
    fn yaml_is_made_json() {
        check(yaml_as_json, b"a: [1, yes]\n", r#"{"a":[1,true]}"#);
        check(yaml_as_json, b"\xEF\xBB\xBF{\"a\": 1}", r#"{"a":1}"#);
        check(
            yaml_as_json,
            b"a: [",
            "yaml: line 1: did not find expected node content",
        );
    }

    #[test]
    fn aliases_do_not_multiply_without_end() {
        let bomb = format!("a: &a '{}'\nb: [{}]\n", "x".repeat(49_000), "*a,".repeat(100_000));
        let error = yaml_as_json(bomb.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("yaml: more than 18 MiB of memory"), "{error}");
        let few = format!("a: &a '{}'\nb: [{}]\n", "x".repeat(49_000), "*a,".repeat(100));
        assert_eq!(yaml_as_json(few.as_bytes()).unwrap().len(), 101 * 49_002 + 112);
        let many = format!("{{\"a\":[{}0]}}", "0,".repeat(1_000_000));
        assert!(
            json_as_json(many.as_bytes())
                .unwrap_err()
                .message
                .starts_with("more than ")
        );
    }
}
