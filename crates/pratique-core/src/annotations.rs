//! Audit annotations.

use std::collections::BTreeMap;

use pratique_gotext::validation::qualified_name;
use pratique_json::escape_html;
use serde::Serialize;

/// The audit annotations of a request, by key.
// Upstream: pkg/admission/attributes.go, AddAnnotationWithLevel
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditAnnotations(BTreeMap<String, String>);

impl AuditAnnotations {
    /// Adds a value, unless the key has one. A key that is not a qualified name with a prefix is dropped.
    pub fn add(&mut self, key: String, value: String) {
        if key.contains('/') && qualified_name(&key).is_empty() {
            self.0.entry(key).or_insert(value);
        }
    }

    /// Adds a value as JSON, with the characters escaped that Go escapes for HTML.
    pub fn add_json(&mut self, key: String, value: &impl Serialize) {
        // Strings and numbers always have a JSON form.
        let json = serde_json::to_string(value).unwrap_or_default();
        self.add(key, escape_html(&json).into_owned());
    }

    /// The annotations by key.
    pub fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }

    /// The number of annotations.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no annotations.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_key_stays() {
        let mut annotations = AuditAnnotations::default();
        annotations.add("a.example.com/key".to_owned(), "first".to_owned());
        annotations.add("a.example.com/key".to_owned(), "second".to_owned());
        annotations.add("not/a key".to_owned(), String::new());
        annotations.add_json("a.example.com/json".to_owned(), &"a < b");
        let expected = [
            ("a.example.com/json", r#""a \u003c b""#),
            ("a.example.com/key", "first"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(annotations.into_map(), BTreeMap::from(expected));
    }
}
