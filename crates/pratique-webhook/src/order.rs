//! The order of fields in a document, which decides which of several faults Go's decoder reports.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The index of the path that comes first in a JSON document; `None` if the document has none of them. The steps of a path
/// are names of members; elements of lists are at the path of the list.
pub(crate) fn first_in(text: &[u8], paths: &[&str]) -> Option<usize> {
    let (mut first, mut path) = (None, String::new());
    let seeker = PathVisitor {
        paths,
        path: &mut path,
        first: &mut first,
    };
    // It ends early with an error where a path is found. Errors of the document were reported before.
    let _ = serde_json::Deserializer::from_slice(text).deserialize_any(seeker);
    first
}

/// Visits the values at and below a path.
struct PathVisitor<'s> {
    paths: &'s [&'s str],
    path: &'s mut String,
    first: &'s mut Option<usize>,
}

impl PathVisitor<'_> {
    fn inner(&mut self) -> PathVisitor<'_> {
        PathVisitor {
            paths: self.paths,
            path: self.path,
            first: self.first,
        }
    }

    /// Whether a wanted path is at this one, or below it.
    fn is_wanted(&self) -> bool {
        let mut below = self
            .paths
            .iter()
            .filter_map(|path| path.strip_prefix(self.path.as_str()));
        below.any(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

impl<'de> DeserializeSeed<'de> for PathVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PathVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut members: M) -> Result<(), M::Error> {
        let length = self.path.len();
        while let Some(name) = members.next_key::<String>()? {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&name);
            *self.first = self.paths.iter().position(|path| path == self.path);
            if self.first.is_some() {
                // It is read no further.
                return Err(serde::de::Error::custom("found"));
            }
            if self.is_wanted() {
                members.next_value_seed(self.inner())?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
            self.path.truncate(length);
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(mut self, mut elements: S) -> Result<(), S::Error> {
        while elements.next_element_seed(self.inner())?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_the_document_counts() {
        let text = br#"{"b": {"x": [1, {"y": 2}], "z": null}, "a": true, "c.d": 1}"#;
        let check = |paths: &[&str], expected| assert_eq!(first_in(text, paths), expected, "{paths:?}");
        check(&["a", "b.z"], Some(1));
        check(&["b.z", "b.x.y"], Some(1));
        check(&["a", "b"], Some(1));
        check(&["q", "a"], Some(1));
        check(&["q", "x"], None);
        assert_eq!(first_in(b"{", &["a"]), None);
    }
}
