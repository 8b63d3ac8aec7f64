//! Bytes that are no manifest, read as the server reads what comes over the wire: an answer of a webhook, say.

use crate::{json, yaml};

/// Whether the server takes bytes for JSON, and for YAML otherwise.
pub fn is_json(bytes: &[u8]) -> bool {
    json::is_json(bytes)
}

/// JSON as plain JSON: UTF-8, compact, each key once.
///
/// # Errors
/// What the server says of bytes that are no JSON.
pub fn json_as_json(bytes: &[u8]) -> Result<String, String> {
    match json::parse(bytes) {
        Ok(document) => Ok(json::write(&document.tree, document.root)),
        Err(error) => Err(error.message),
    }
}

/// YAML as plain JSON.
///
/// # Errors
/// What the server says of bytes that are no YAML.
pub fn yaml_as_json(bytes: &[u8]) -> Result<String, String> {
    match yaml::parse(&yaml::decode(bytes.to_vec())) {
        Ok(document) => Ok(json::write(&document.tree, document.root)),
        Err(error) => Err(error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(read: fn(&[u8]) -> Result<String, String>, bytes: &[u8], expected: &str) {
        assert_eq!(read(bytes).unwrap_or_else(|error| error), expected);
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
}
